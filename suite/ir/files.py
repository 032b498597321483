"""Names and lists the files of the programs that were compiled in a process. It needs only the standard library.

A captured folder has three files for each program. `<step>-<number>-<name>.before.pb` is XLA's HloProto before
optimizations. `<step>-<number>-<name>.after.txt` is the optimized program, as text because reading the HloProto of a
program with many calls takes gigabytes. `<step>-<number>-<name>.after.pb` is that HloProto, which an older XLA reads if
the text has a newer syntax. Beside them are the files that the framework itself wrote: `lowered.mlir`, `jaxpr.txt`,
generated code.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

FOLDER = "ir"  # in the folder of a process, and in a result set
PROFILE = "profile"  # in the folder of a process: a trace, asked.json, and XLA's optimized programs in both forms
ASKED, ATTRIBUTED = "asked.json", "profile.json"
PROGRAMS, PROTOS = "*after_optimizations.txt", "*after_optimizations.hlo.pb"
LOWERED, JAXPR = "lowered.mlir", "jaxpr.txt"  # the step's StableHLO by the framework itself, and what JAX traced
SUMMARY = "summary.json"
GIVEN = "given.mlir"  # a user's StableHLO, alone in its folder
BEFORE, AFTER, AFTER_PROTO = ".before.pb", ".after.txt", ".after.pb"
DUMPED = re.compile(r"module_(\d+)\.(.+?)\.(?:(before)_optimizations\.hlo\.pb|\w*after_optimizations\.(hlo\.pb|txt))")
GENERATED = ".py"  # by Inductor
STABLEHLO, OPTIMIZED = ".stablehlo.mlir", ".optimized.hlo.txt"  # endings of the compressed files in a result set


@dataclass(frozen=True, slots=True)
class Captured:
    """The files of one program in a captured folder. Generated code has only `before`; the others may not exist."""

    step: str
    name: str
    before: Path
    after: Path
    after_proto: Path


def dumped(dump: Path) -> Iterator[tuple[str, Path]]:
    """Yields (name, file) of every program in a folder of XLA's dumps. The name is the one that the file gets in a
    captured folder, without the step."""
    for path in sorted(dump.glob("*_optimizations.*")):
        if match := DUMPED.fullmatch(path.name):
            ending = BEFORE if match[3] else AFTER if match[4] == "txt" else AFTER_PROTO
            yield f"{match[1]}-{match[2]}{ending}", path


def generated(caches: Path) -> Iterator[tuple[str, Path]]:
    """Yields (name, file), as `dumped` does, for the code that Inductor generated. There is a file for each graph; the
    one written first comes first."""
    sources = [path for path in caches.rglob("*.py") if "async_compile" in path.read_text(encoding="utf-8")]
    for number, path in enumerate(sorted(sources, key=lambda path: path.stat().st_mtime_ns)):
        yield f"{number:04d}-{path.name}", path


def captured(folder: Path) -> list[Captured]:
    """Returns the programs of a captured folder, in the order in which they were compiled."""
    programs = []
    for path in (*folder.glob(f"*{BEFORE}"), *folder.glob(f"*{GENERATED}")):
        stem = path.name.removesuffix(BEFORE).removesuffix(GENERATED)
        step, number, name = stem.split("-", 2)
        after, after_proto = path.with_name(stem + AFTER), path.with_name(stem + AFTER_PROTO)
        programs.append((int(number), Captured(step, name, path, after, after_proto)))
    return [program for _, program in sorted(programs, key=lambda program: program[0])]
