"""The common code of all stacks that compile with XLA: its knobs, and how to find out which kernels its programs
run."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

from suite.case import Case
from suite.ir import files
from suite.stacks import kernels
from suite.stacks.base import Adapter
from suite.stacks.catalog import STACKS
from suite.stacks.holders import Holders
from suite.stacks.kernels import LibraryLogs, LibraryUse
from suite.stacks.knobs import Knob
from suite.stacks.observed import Batch, State
from suite.stacks.xla import buffers

KNOBS = (
    Knob(
        "xla_cpu_prefer_vector_width=512",
        "XLA asks for vectors of 256 bits even where a CPU has 512",
        ("cpu",),
        processor="avx512f",
    ),
)

DUMP = "xla"  # in the folder of caches
BOTH = "proto --xla_dump_hlo_as_text"  # forms of the dumps
OPTIMIZED = "*after_optimizations.txt"
PRODUCT = re.compile(r" (?:dot|convolution)\(")
COMPUTATION = re.compile(r"^(?:ENTRY )?%?([\w.-]+) .*\{$")
FUSION = re.compile(r" fusion\(.*calls=%?([\w.-]+)")
CUSTOM = re.compile(r'custom_call_target="([^"]+)"|"kind":"(__\w+)"')
WIDTH = re.compile(r'"prefer-vector-width"="(\d+)"')
# The libraries that XLA calls, by how its names of such fusions and calls begin.
LIBRARIES = {"__ynn": "YNNPACK", "__xnn": "XNNPACK", "__onednn": "oneDNN"}


def compiler_options(tuned: Iterable[str]) -> dict[str, str] | None:
    return dict(name.split("=", 1) for name in sorted(tuned)) or None


def flags_environ(case: Case) -> dict[str, str]:
    """Returns the environment variable that gives the tuned track's knobs to XLA in frameworks other than JAX. Knobs
    that don't act on this machine's processor aren't in it."""
    flags = [f"--{knob.name}" for knob in KNOBS if case.track == "tuned" and knob.acts_here(case.target)]
    return {"XLA_FLAGS": " ".join(flags)} if flags else {}


class Dumping(Adapter):
    """An adapter whose programs are compiled by XLA. In a process that isn't timed, XLA also writes them to the folder
    of compile caches."""

    @classmethod
    def explain_environ(cls, case: Case, cache_directory: str) -> dict[str, str]:
        return dumping(super().explain_environ(case, cache_directory), cache_directory, "text")

    @classmethod
    def profile_environ(cls, case: Case, cache_directory: str) -> dict[str, str]:
        """See `base.Adapter.profile_environ`. XLA's programs say what an operation in the trace computes."""
        return dumping(super().profile_environ(case, cache_directory), cache_directory, BOTH)

    @classmethod
    def ir_environ(cls, case: Case, cache_directory: str) -> dict[str, str]:
        return dumping(super().ir_environ(case, cache_directory), cache_directory, BOTH)

    @property
    def one_program(self) -> bool:
        """Whether the step is one program; op by op, each operation is a program."""
        return STACKS[self.case.stack].compiled

    def kernels_used(self, logs: LibraryLogs) -> list[LibraryUse]:
        """Returns the kernels that XLA's programs call, then those that the libraries below its runtime logged."""
        return kernels_used(logs, self.one_program) + kernels.libraries(logs)

    def holders(self, logs: LibraryLogs, state: State, batch: Batch) -> Holders | None:
        return buffers.holders(logs.folder / DUMP) if self.one_program else None

    def programs(self, caches: Path) -> Iterable[tuple[str, Path]]:
        return files.dumped(caches / DUMP)

    def planned_memory(self, caches: Path) -> dict[str, int]:
        return buffers.planned(caches / DUMP)


def dumping(variables: Mapping[str, str], cache_directory: str, form: str) -> dict[str, str]:
    dump = f'--xla_dump_to="{cache_directory}/{DUMP}" --xla_dump_hlo_as_{form}'  # a folder may have a space in its name
    return {**variables, "XLA_FLAGS": f"{variables.get('XLA_FLAGS', '')} {dump}".strip()}


def kernels_used(logs: LibraryLogs, one_program: bool = True) -> list[LibraryUse]:
    """Returns the libraries whose kernels the optimized programs call, with XLA's generated code as one of them and
    XLA's runtime, which computes products that no library takes, as another. The one with most products comes first.

    `one_program`: the step is one program, the largest in the folder; else each operation is a program.
    """
    files = sorted((logs.folder / DUMP).glob(OPTIMIZED), key=lambda path: path.stat().st_size)
    calls: Counter[str] = Counter()
    products: Counter[str] = Counter()
    for path in files[-1:] if one_program else files:
        for library, product in places(path.read_text(encoding="utf-8", errors="replace")):
            calls[library] += 1
            products[library] += product
    order = sorted(calls, key=lambda library: (-products[library], -calls[library]))
    return [LibraryUse(name, generated_width(logs.folder) if name == "XLA" else None, calls[name]) for name in order]


def places(program: str) -> list[tuple[str, bool]]:
    """Returns (library, whether it is a product) for each place of an optimized program that runs a kernel."""
    bodies: dict[str, list[str]] = {}
    name = ""
    for line in program.splitlines():
        if begins := COMPUTATION.match(line):
            name = begins[1]
        bodies.setdefault(name, []).append(line)
    fused = {called[1] for lines in bodies.values() for line in lines if (called := FUSION.search(line))}
    kernels = []
    for line in (line for name, lines in bodies.items() if name not in fused for line in lines):
        called, custom = FUSION.search(line), CUSTOM.search(line)
        product = any(map(PRODUCT.search, bodies.get(called[1], ()))) if called else bool(PRODUCT.search(line))
        if called or custom or product:
            word = (custom[1] or custom[2]) if custom else ""
            library = next((LIBRARIES[start] for start in LIBRARIES if word.startswith(start)), word)
            kernels.append((library or ("XLA" if called else "XLA runtime"), product))
    return kernels


def generated_width(folder: Path) -> str | None:
    """Returns the vector width that XLA asked its compiler for in generated code: `256-bit vectors`."""
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in (folder / DUMP).glob("*ir-with-opt.ll"))
    widths = {width for text in texts for width in WIDTH.findall(text)}
    return f"{'/'.join(sorted(widths))}-bit vectors" if widths else None
