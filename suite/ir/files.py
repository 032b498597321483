"""What a process leaves of the programs that were compiled in it, and what becomes of that. Standard library only.

A captured folder has, for each program, `<step>-<number>-<name>.before.pb`, XLA's HloProto before its optimizations,
and `.after.txt`, the program afterwards (as text: from its HloProto one with many calls takes gigabytes). Beside them
what the framework tells itself: `lowered.mlir`, `jaxpr.txt`, generated code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = "ir"  # in the folder of a process, and in a result set
PROFILE = "profile"  # in the folder of a process: a trace, what it is of, and XLA's optimized programs as text
ASKED, ATTRIBUTED = "asked.json", "profile.json"
PROGRAMS = "*after_optimizations.txt"
LOWERED, JAXPR = "lowered.mlir", "jaxpr.txt"  # the step's StableHLO by the framework itself, and what JAX traced
SUMMARY = "summary.json"
GIVEN = "given.mlir"  # somebody's own StableHLO, in a folder of its own
BEFORE, AFTER = ".before.pb", ".after.txt"
DUMPED = re.compile(r"module_(\d+)\.(.+?)\.(before_optimizations\.hlo\.pb|\w*after_optimizations\.txt)")
GENERATED = ".py"  # by Inductor
STABLEHLO, OPTIMIZED = ".stablehlo.mlir", ".optimized.hlo.txt"  # as they are kept, compressed


@dataclass(frozen=True, slots=True)
class Captured:
    """The files of one program in a captured folder; of generated code `before` alone. `after` may not be there."""

    step: str
    name: str
    before: Path
    after: Path


def dumped(dump: Path) -> Iterator[tuple[str, Path]]:
    """(what it is called in a captured folder, less the step; the file) of every program in a folder of XLA's dumps."""
    for path in sorted(dump.glob("*_optimizations.*")):
        if found := DUMPED.fullmatch(path.name):
            yield f"{found[1]}-{found[2]}{BEFORE if found[3].startswith('before') else AFTER}", path


def generated(caches: Path) -> Iterator[tuple[str, Path]]:
    """The same of the code that Inductor generates, a file for each graph."""
    written = [path for path in caches.rglob("*.py") if "async_compile" in path.read_text(encoding="utf-8")]
    for number, path in enumerate(sorted(written, key=lambda path: path.stat().st_mtime_ns)):
        yield f"{number:04d}-{path.name}", path


def captured(folder: Path) -> list[Captured]:
    """The programs of a captured folder, in the order in which they were compiled."""
    found = []
    for path in (*folder.glob(f"*{BEFORE}"), *folder.glob(f"*{GENERATED}")):
        stem = path.name.removesuffix(BEFORE).removesuffix(GENERATED)
        step, number, name = stem.split("-", 2)
        found.append((int(number), Captured(step, name, path, path.with_name(stem + AFTER))))
    return [program for _, program in sorted(found, key=lambda each: each[0])]
