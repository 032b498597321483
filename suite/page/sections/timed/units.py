"""The unit of each column of a comparison."""

from __future__ import annotations

from dataclasses import dataclass

from suite.results.analysis import Comparison
from suite.units import Unit, time_unit


@dataclass(frozen=True, slots=True)
class Units:
    """One unit for all stacks of a comparison, column by column; the steady clocks share one."""

    first: Unit
    second: Unit
    steady: Unit
    compile: Unit


def column_units(comparison: Comparison) -> Units:
    """Returns the units that suit the middle value of each column."""
    stacks = comparison.timed
    return Units(
        first=time_unit(stack.first_seconds for stack in stacks),
        second=time_unit(stack.second_seconds for stack in stacks),
        steady=time_unit(stack.steady for stack in stacks),
        compile=time_unit(stack.compile_seconds for stack in stacks if stack.compile_seconds),
    )
