"""The limits of the shell that started this program (`ulimit`), which all its processes inherit. Standard library only,
and quick to import: the supervisor of each worker reads them."""

from __future__ import annotations

import math
import resource
from collections.abc import Mapping

# By its name in machine.json: the kernel's limit, the letter for `ulimit`, and the least that stops nobody. Stack,
# files and processes are limited everywhere, by defaults that suffice.
KINDS: dict[str, tuple[int, str, float]] = {
    "address_space_bytes": (resource.RLIMIT_AS, "v", math.inf),
    "data_bytes": (resource.RLIMIT_DATA, "d", math.inf),
    "stack_bytes": (resource.RLIMIT_STACK, "s", 8 * 2**20),
    "file_bytes": (resource.RLIMIT_FSIZE, "f", math.inf),
    "cpu_seconds": (resource.RLIMIT_CPU, "t", math.inf),
    "processes": (resource.RLIMIT_NPROC, "u", 1024),
    "open_files": (resource.RLIMIT_NOFILE, "n", 1024),
    "locked_bytes": (resource.RLIMIT_MEMLOCK, "l", 0),
}
# Under less address space the libraries of a command end in mid-import, some by a signal (seen with 1.0 GB, 2 cores).
LEAST_BYTES = 5 * 2**28


def limits() -> dict[str, int]:
    """Returns the limits that are finite, by their names in machine.json."""
    found = {name: resource.getrlimit(kind)[0] for name, (kind, _, _) in KINDS.items()}
    return {name: value for name, value in found.items() if value != resource.RLIM_INFINITY}


def tight(found: Mapping[str, int]) -> dict[str, int]:
    """Returns those of `limits` that may stop a program. Names that no shell has, as of a stranger's set, are none."""
    return {name: value for name, value in found.items() if name in KINDS and value < KINDS[name][2]}


def said(found: Mapping[str, int]) -> str:
    """Returns limits as a shell sets them: `ulimit -v 2.86 GiB, -u 60`; empty if there are none."""
    words = [f"-{KINDS[name][1]} {quantity(name, value)}" for name, value in found.items()]
    return f"ulimit {', '.join(words)}" if words else ""


def quantity(name: str, value: int) -> str:
    from suite import units  # its import takes a supervisor milliseconds

    unit = name.rpartition("_")[2]
    return units.quantity(value) if unit == "bytes" else f"{value:,}{' s' if unit == 'seconds' else ''}"


def warnings() -> list[str]:
    """Returns a sentence about the limits that may stop a program; none if there is none."""
    here = said(tight(limits()))
    advice = "what needs more ends as a failure that says so. A new shell, or a batch job that asks for more, lifts it."
    return [f"This shell limits its programs ({here}): {advice}"] if here else []


def refusal() -> str:
    """Returns why no command can start under the limit on address space; empty if it can."""
    if limits().get("address_space_bytes", LEAST_BYTES) >= LEAST_BYTES:
        return ""
    return f"Stack Wars needs {quantity('least_bytes', LEAST_BYTES)} of address space. {' '.join(warnings())}"
