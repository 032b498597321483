"""The columns of a stack: one entry of `COLUMNS` has a figure's name, its words and every place that shows it.

The page's two tables, the data frame, CSV and JSON all loop over `COLUMNS`; docs/how-to/section.md shows how to add a
column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from suite.results.speedup.verdicts import Speedup
from suite.results.stack_figures import StackFigures
from suite.stats import Estimate


class ColumnPlace(StrEnum):
    """A place that can show a column."""

    TIMING = "timing"  # the page's table "Time of one step"
    CLOCKS = "clocks"  # the page's table "Clocks, compiling and memory"
    FRAME = "frame"  # Results.stacks()
    CSV = "csv"
    JSON = "json"


TIMING, CLOCKS, FRAME, CSV, JSON = ColumnPlace


@dataclass(frozen=True, slots=True)
class StackColumn:
    """A column of a stack: its name in the data frame, CSV and JSON, the value, and the places that show it.

    On the page `title` and, in small print, `note` head the column, where {unit} and {confidence} are filled in and a
    newline breaks the line. `unit` is a field of the report's `Units`. `drawn` is the macro of
    reports/templates/macros/columns.html.j2 that writes a cell. A column with `hidden_without`, a field of
    StackFigures, is shown only if some stack of the question has a value there.
    """

    name: str
    value: Callable[[StackFigures], Any]
    places: tuple[ColumnPlace, ...]
    title: str = ""
    note: str = "{unit}"
    unit: str = ""
    drawn: str = "number"
    hidden_without: str = ""


COLUMNS = (
    StackColumn("first_seconds", lambda stack: stack.first, (TIMING, FRAME, CSV, JSON), "First run", unit="first"),
    StackColumn("second_seconds", lambda stack: stack.second, (TIMING, FRAME, CSV, JSON), "Second run", unit="second"),
    StackColumn(
        "average_seconds", lambda stack: stack.average, (TIMING, FRAME, JSON), "Average\nsteady state", unit="steady"
    ),
    StackColumn(
        "median_seconds",
        lambda stack: stack.median.value,
        (TIMING, FRAME, CSV, JSON),
        "Median",
        unit="steady",
        drawn="median",
    ),
    StackColumn(
        "median_interval",
        lambda stack: stack.median,
        (TIMING,),
        "{confidence} interval",
        unit="steady",
        drawn="interval",
    ),
    StackColumn("low_seconds", lambda stack: stack.median.low, (FRAME, CSV)),
    StackColumn("high_seconds", lambda stack: stack.median.high, (FRAME, CSV)),
    StackColumn("median_low_seconds", lambda stack: stack.median.low, (JSON,)),
    StackColumn("median_high_seconds", lambda stack: stack.median.high, (JSON,)),
    StackColumn("p5_seconds", lambda stack: stack.p5, (TIMING, FRAME), "p5", unit="steady"),
    StackColumn("p95_seconds", lambda stack: stack.p95, (TIMING, FRAME), "p95", unit="steady"),
    StackColumn("outliers", lambda stack: stack.outliers, (TIMING,), "Out-\nliers", "", drawn="count"),
    StackColumn("dispatch_seconds", lambda stack: stack.dispatch, (CLOCKS, FRAME), "Dispatch", unit="steady"),
    StackColumn("synced_seconds", lambda stack: stack.median.value, (CLOCKS,), "Synced", unit="steady"),
    StackColumn("pipelined_seconds", lambda stack: stack.pipelined, (CLOCKS, FRAME), "Pipelined", unit="steady"),
    StackColumn("fetch_seconds", lambda stack: stack.fetch, (CLOCKS, FRAME), "Fetch", unit="steady"),
    StackColumn("items_per_second", lambda stack: stack.items_per_second, (CLOCKS, FRAME), "Throughput", unit="rate"),
    StackColumn(
        "efficiency",
        lambda stack: stack.efficiency,
        (CLOCKS, FRAME),
        "Efficiency",
        "% of the machine's measured limit",
        drawn="hundredths",
        hidden_without="efficiency",
    ),
    StackColumn("compile_seconds", lambda stack: stack.compile, (CLOCKS,), "Compile time", unit="compile"),
    StackColumn(
        "compiles",
        lambda stack: stack.compiles,
        (CLOCKS,),
        "Compilations",
        "in first / second / steady runs",
        drawn="counts",
    ),
    StackColumn("graph_breaks", lambda stack: stack.graph_breaks, (CLOCKS,), "Graph\nbreaks", "", drawn="count"),
    StackColumn(
        "cores",
        lambda stack: stack.cores,
        (CLOCKS,),
        "Cores had",
        "least of all processes",
        drawn="count",
        hidden_without="cores",
    ),
    StackColumn(
        "page_faults",
        lambda stack: stack.faults,
        (CLOCKS,),
        "Page faults",
        "a step",
        drawn="count",
        hidden_without="cores",
    ),
    StackColumn("peak_bytes", lambda stack: stack.peak_bytes, (CLOCKS, FRAME), "Peak memory", unit="memory"),
    StackColumn(
        "relative_error", lambda stack: stack.relative_error, (CLOCKS,), "Worst error", "relative", drawn="error"
    ),
    StackColumn("baseline", lambda stack: stack.speedup and stack.speedup.baseline, (FRAME, CSV)),
    StackColumn("speedup", lambda stack: stack.speedup and stack.speedup.ratio.value, (FRAME, CSV)),
    StackColumn("speedup", lambda stack: ratio_json(stack.speedup), (JSON,)),
    StackColumn("verdict", lambda stack: stack.speedup, (TIMING,), "Verdict", "", drawn="verdict"),
    StackColumn("speedup", lambda stack: stack.speedup, (TIMING,), "Speedup", "", drawn="speedup"),
    StackColumn("speedup_interval", lambda stack: stack.speedup, (TIMING,), "Interval", "", drawn="speedup_interval"),
    StackColumn("speedup_low", lambda stack: stack.speedup and stack.speedup.ratio.low, (FRAME, CSV)),
    StackColumn("speedup_high", lambda stack: stack.speedup and stack.speedup.ratio.high, (FRAME, CSV)),
    StackColumn("verdict", lambda stack: stack.speedup and stack.speedup.verdict, (FRAME, CSV)),
    StackColumn("verdict_in_set", lambda stack: stack.speedup and stack.speedup.in_set, (FRAME, CSV)),
    StackColumn("verdict_reason", lambda stack: stack.speedup and stack.speedup.reason, (FRAME, CSV)),
    StackColumn("two_modes", lambda stack: stack.has_modes, (FRAME, JSON)),
    StackColumn("best_seconds", lambda stack: stack.best, (FRAME, JSON)),
    StackColumn("spread", lambda stack: stack.spread, (FRAME, JSON)),
    StackColumn("peak_bytes", lambda stack: stack.peak_bytes, (CSV, JSON)),
    StackColumn("flags", lambda stack: [flag for flag, _ in stack.flags], (CSV, JSON)),
    StackColumn("notes", lambda stack: stack.flags, (TIMING,), "Notes", "", unit="steady", drawn="notes"),
    StackColumn(
        "kernels",
        lambda stack: stack.kernels or None,
        (CLOCKS, FRAME, JSON),
        "Kernels",
        "library and instructions, most first",
        drawn="words",
        hidden_without="kernels",
    ),
)


def columns_in(place: ColumnPlace) -> list[StackColumn]:
    """Returns the columns that a place shows, in the order of `COLUMNS`."""
    return [column for column in COLUMNS if place in column.places]


def values_in(place: ColumnPlace, stack: StackFigures | None) -> dict[str, Any]:
    """Returns {column: value} of one stack in a place; empty for a stack without times."""
    return {} if stack is None else {column.name: column.value(stack) for column in columns_in(place)}


def shown_columns(place: ColumnPlace, stacks: Iterable[StackFigures]) -> list[StackColumn]:
    """Returns the columns of one of the page's tables, without those that are hidden for these stacks."""
    listed = list(stacks)

    def is_known(field: str) -> bool:
        return any(getattr(stack, field) not in (None, "") for stack in listed)

    return [column for column in columns_in(place) if not column.hidden_without or is_known(column.hidden_without)]


def ratio_json(speedup: Speedup | None) -> dict[str, Any] | None:
    """Returns a speedup with its interval and verdict, as JSON has it; None where there is none."""
    if speedup is None:
        return None
    verdict = {
        "verdict": speedup.verdict,
        "in_set": speedup.in_set,
        "reason": speedup.reason,
        "best": estimate_json(speedup.best),
    }
    return {"value": speedup.ratio.value, "low": speedup.ratio.low, "high": speedup.ratio.high} | verdict


def estimate_json(estimate: Estimate | None) -> dict[str, Any] | None:
    """Returns a value with its interval, as JSON has it; None where there is none."""
    return None if estimate is None else {"value": estimate.value, "low": estimate.low, "high": estimate.high}
