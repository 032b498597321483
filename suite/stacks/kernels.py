"""Which library ran, on which instructions: read from what libraries say of themselves. docs/methodology.md explains."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

VERBOSE = {"ONEDNN_VERBOSE": "1", "MKL_VERBOSE": "1"}  # what makes them say it

# onednn_verbose,v1,primitive,exec,cpu,matmul,brg_matmul:avx512_core,undef,...,1024x1024:1024x1024,9.28
ONEDNN = re.compile(r"^onednn_verbose,(?:v\d+,)?(?:primitive,)?exec,cpu,\w+,([^,]*),.*,([\d.]+)$", re.MULTILINE)
# MKL_VERBOSE SGEMM(N,N,1024,1024,...) 21.35ms CNR:OFF Dyn:1 FastMM:1 TID:0  NThr:2
MKL = re.compile(r"^MKL_VERBOSE \w+\(.*\) ([\d.]+)(ns|us|ms|s) ", re.MULTILINE)
# MKL_VERBOSE oneMKL 2024.0 Update 2 Product build 20240605 for Intel(R) 64 architecture Intel(R) Advanced Vector ...
MKL_PATH = re.compile(r"^MKL_VERBOSE .*\(Intel\(R\) ([\w. -]+)\).*enabled processors", re.MULTILINE)
SECONDS = {"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1.0}
INSTRUCTIONS = re.compile(r"(?:avx|sse|amx)\w*")


@dataclass(frozen=True, slots=True)
class Used:
    """One library at work: its name, the instruction set as it says it, how often a step calls it, for how long.

    None is unknown: libraries without a log have no calls.
    """

    library: str
    isa: str | None = None
    calls: int | None = None
    seconds: float | None = None

    def to_json(self) -> dict[str, Any]:
        """A plain dict."""
        return dataclasses.asdict(self)


@dataclass(frozen=True, slots=True)
class Told:
    """What a process's libraries wrote on standard output before the step that was listened to and in it, and the folder
    of its caches, where compilers leave what they made."""

    before: str
    step: str
    folder: Path


def libraries(told: Told) -> list[Used]:
    """oneDNN and MKL, by their logs: what took most of the step first."""
    path = MKL_PATH.search(told.before + told.step)
    calls = [("oneDNN", instructions(found[1]), float(found[2]) / 1e3) for found in ONEDNN.finditer(told.step)]
    calls += [("MKL", path and path[1], float(found[1]) * SECONDS[found[2]]) for found in MKL.finditer(told.step)]
    return summed(calls)


def instructions(implementation: str) -> str:
    """Of `brg_matmul:avx512_core` the instruction set; an implementation that names none is given as it is."""
    found = INSTRUCTIONS.search(implementation)
    return found[0] if found else implementation


def summed(calls: Iterable[tuple[str, str | None, float]]) -> list[Used]:
    """Calls as (library, instruction set, seconds), by library and instruction set, the longest first."""
    seconds: dict[tuple[str, str | None], list[float]] = {}
    for library, isa, taken in calls:
        seconds.setdefault((library, isa), []).append(taken)
    found = [Used(library, isa, len(taken), sum(taken)) for (library, isa), taken in seconds.items()]
    return sorted(found, key=lambda used: -(used.seconds or 0.0))
