"""Programs as an ir process records them, made by hand."""

from __future__ import annotations

from typing import Any

from suite.ir.findings import StackPrograms
from suite.ir.summary import Compiled, Contents, Cost, Program

LAYER_NORM = ("layer norm", "enumerated: squared differences", 25)


def contents(**changes: Any) -> Contents:
    """Of a step that updates two tensors in place."""
    known: dict[str, Any] = {
        "operations": {"add": 60, "dot_general": 30, "reshape": 10},
        "arguments": 4,
        "argument_bytes": 4096,
        "results": 3,
        "result_bytes": 2052,
        "aliased": 2,
        "aliased_bytes": 2048,
        "kept": 1,
        "kept_bytes": 4,
        "ranks": {"3": 30},
        "regions": (LAYER_NORM,),
        "cost": Cost(flops=1e9, bytes=1e8),
    }
    return Contents(**known | changes)


def compiled(**changes: Any) -> Compiled:
    """What XLA makes of it."""
    known: dict[str, Any] = {
        "kernels": 50,
        "runs": {"fusion": 40, "dot": 10, "parameter": 4},
        "inside": {"add": 60},
        "custom_calls": {},
        "cost": Cost(flops=1e9, bytes=5e7),
    }
    return Compiled(**known | changes)


def program(step: str = "first", **changes: Any) -> Program:
    """One of XLA's."""
    return Program(
        name=f"{step}-0000-step", steps=(step,), told_by="HLO", contents=contents(**changes), compiled=compiled()
    )


def stack_programs(stack: str, *programs: Program, **changes: Any) -> StackPrograms:
    """The programs of a stack: one unless others are given."""
    return StackPrograms(stack, programs or (program(**changes),))
