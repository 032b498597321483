"""What a program of XLA's holds: its buffer assignment, as `--xla_dump_to` leaves it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

from suite.stacks.holders import Holder, Holders

BUFFERS = "*buffer-assignment.txt"
ALLOCATION = re.compile(r"^allocation \d+: size (\d+), (?:page \d+, )?(.*):$")  # pages: XLA from 2026 on
VALUE = re.compile(r"^ value: <\d+ (\S+) @\d+> \(size=(\d+),offset=(\d+)\): (\S+)$")
ARGUMENT = re.compile(r"parameter (\d+), shape \|([^|]*)\|")
INSTRUCTION = re.compile(r'^\s*(?:ROOT )?%?([\w.-]+) = .*metadata=\{[^}]*op_name="((?:[^"\\]|\\.)+)"')
# JAX tells what it calls the arguments of a step: those of `jax_jit` and, unnamed, of torchax.
KINDS = {
    "state[0]": "parameters",
    "state[1]": "parameters",
    "state[2]": "optimizer",
    "batch": "inputs",
    "args[0]": "parameters",
    "args[1]": "parameters",
    "args[2]": "optimizer",
    "args[3]": "inputs",
}


def holders(folder: Path) -> Holders | None:
    """By the largest program of a folder of dumps, the step's; None where there is none."""
    plan = max(folder.glob(BUFFERS), key=lambda path: path.stat().st_size, default=None)
    if plan is None:
        return None
    program = plan.with_name(plan.name.replace("-buffer-assignment.txt", ".txt"))
    names = operations(program.read_text(encoding="utf-8", errors="replace")) if program.exists() else {}
    found = tuple(allocations(plan.read_text(encoding="utf-8", errors="replace"), names))
    return Holders("XLA's buffer assignment", found)


def operations(program: str) -> dict[str, str]:
    """{instruction: what the framework calls it}, of an optimized program's text."""
    found = (INSTRUCTION.match(line) for line in program.splitlines())
    return {each[1]: each[2].replace("\\'", "'") for each in found if each}


def allocations(plan: str, names: dict[str, str]) -> Iterator[Holder]:
    """Every allocation of a plan; the one that temporaries share is taken apart into what lies side by side in it."""
    size, kind, values = 0, "", list[tuple[int, int, str]]()
    for line in plan.splitlines():
        if begins := ALLOCATION.match(line):
            yield from holders_of(size, kind, values, names)
            size, kind, values = int(begins[1]), begins[2], []
        elif value := VALUE.match(line):
            values.append((int(value[2]), int(value[3]), value[1]))
    yield from holders_of(size, kind, values, names)


def holders_of(size: int, kind: str, values: list[tuple[int, int, str]], names: dict[str, str]) -> Iterator[Holder]:
    """One allocation as holders; `values` are (size, offset, instruction) of all that it has room for in turn."""
    if not values:
        return
    called = [names.get(name, name) for _, _, name in values]
    if argument := ARGUMENT.match(kind):
        told = ((KINDS[start], name) for name in called for start in KINDS if name.startswith(start))
        category, name = next(told, ("arguments", f"argument {argument[1]}, {argument[2]}"))
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
