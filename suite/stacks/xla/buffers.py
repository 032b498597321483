"""Reads what an XLA program holds in memory from its buffer assignment, which `--xla_dump_to` writes to a file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from suite.stacks.base import PROGRAM_FIGURES
from suite.stacks.holders import Holder, Holders

BUFFERS = "*buffer-assignment.txt"
ALLOCATION = re.compile(r"^allocation \d+: size (\d+), (?:page \d+, )?(.*):$")  # pages: XLA from 2026 on
VALUE = re.compile(r"^ value: <\d+ (\S+) @\d+> \(size=(\d+),offset=(\d+)\): (\S+)$")
ARGUMENT = re.compile(r"parameter (\d+), shape \|([^|]*)\|")
INSTRUCTION = re.compile(r'^\s*(?:ROOT )?%?([\w.-]+) = .*metadata=\{[^}]*op_name="((?:[^"\\]|\\.)+)"')
# The beginnings of JAX's names for a program's arguments: of `jax_jit`'s train step and its other programs, and of
# torchax, whose arguments have only numbers.
KINDS = {
    "state[0]": "parameters",
    "state[1]": "parameters",
    "state[2]": "optimizer",
    "batch": "inputs",
    "parameters": "parameters",
    "buffers": "parameters",
    "inputs": "inputs",
    "args[0]": "parameters",
    "args[1]": "parameters",
    "args[2]": "optimizer",
    "args[3]": "inputs",
}


def holders(folder: Path) -> Holders | None:
    """Returns what the step's program in a folder of dumps holds in memory; None if the folder has no plan."""
    plan = plan_of(folder)
    if plan is None:
        return None
    program = plan.with_name(plan.name.replace("-buffer-assignment.txt", ".txt"))
    names = operations(program.read_text(encoding="utf-8", errors="replace")) if program.exists() else {}
    held = tuple(allocations(plan.read_text(encoding="utf-8", errors="replace"), names))
    return Holders("XLA's buffer assignment", held)


def plan_of(folder: Path) -> Path | None:
    """Returns the file with the buffer assignment of the step's program: the largest in a folder of dumps; None if the
    folder has none."""
    return max(folder.glob(BUFFERS), key=lambda path: path.stat().st_size, default=None)


def planned(folder: Path) -> dict[str, int]:
    """Returns the bytes that the step's program holds by its buffer assignment, under the names of
    `base.Adapter.program_memory`; empty if there is none. Constants don't count: they are part of the program's code.
    """
    plan = plan_of(folder)
    if plan is None:
        return {}
    sizes: Counter[str] = Counter()
    for line in plan.read_text(encoding="utf-8", errors="replace").splitlines():
        if begins := ALLOCATION.match(line):
            size, kind = int(begins[1]), begins[2]
            argument, result = ARGUMENT.match(kind) is not None, "live-out" in kind or kind.startswith("output")
            sizes["argument"] += size * argument
            sizes["output"] += size * result
            sizes["alias"] += size * (argument and result)
            sizes["temp"] += size * (not argument and not result and not kind.startswith("constant"))
    return dict(zip(PROGRAM_FIGURES, (sizes[name] for name in ("argument", "output", "temp", "alias")), strict=True))


def operations(program: str) -> dict[str, str]:
    """Returns {instruction: the framework's name for it} of an optimized program's text."""
    matches = (INSTRUCTION.match(line) for line in program.splitlines())
    return {match[1]: match[2].replace("\\'", "'") for match in matches if match}


def allocations(plan: str, names: dict[str, str]) -> Iterator[Holder]:
    """Yields every allocation of a plan. The one that temporaries share is split into values that lie side by side."""
    kinds = kinds_of(names)
    size, kind, values = 0, "", list[tuple[int, int, str]]()
    for line in plan.splitlines():
        if begins := ALLOCATION.match(line):
            yield from holders_of(size, kind, values, names, kinds)
            size, kind, values = int(begins[1]), begins[2], []
        elif value := VALUE.match(line):
            values.append((int(value[2]), int(value[3]), value[1]))
    yield from holders_of(size, kind, values, names, kinds)


def kinds_of(names: dict[str, str]) -> dict[str, str]:
    """Returns KINDS for a program with these names. torchax numbers three arguments where no optimizer has a state:
    then the third holds the inputs."""
    with_optimizer = any(name.startswith("args[3]") for name in names.values())
    return KINDS if with_optimizer else KINDS | {"args[2]": "inputs"}


def holders_of(
    size: int, kind: str, values: list[tuple[int, int, str]], names: dict[str, str], kinds: dict[str, str]
) -> Iterator[Holder]:
    """Yields one allocation's holders; `values` are (size, offset, instruction) of all that it holds over time."""
    if not values:
        return
    called = [names.get(name, name) for _, _, name in values]
    if argument := ARGUMENT.match(kind):
        known = ((kinds[start], name) for name in called for start in kinds if name.startswith(start))
        category, name = next(known, ("arguments", f"argument {argument[1]}, {argument[2]}"))
        yield Holder(category, name, size)
    elif kind.startswith("preallocated-temp"):
        taken: list[tuple[int, int]] = []
        for large, offset, name in sorted(values, reverse=True):
            if all(offset + large <= begin or end <= offset for begin, end in taken):
                taken.append((offset, offset + large))
                yield Holder("temporaries", names.get(name, name), large)
    elif "live-out" in kind or kind.startswith("output"):
        yield Holder("outputs", called[0], size)
    else:
        yield Holder("constants" if kind.startswith("constant") else "temporaries", called[0], size)
