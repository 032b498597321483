"""The columns of a stack: one entry gives a figure its name, its words and every place where it is shown.

The page's two tables, the data frame, CSV and JSON all loop over `COLUMNS`; docs/adding-a-column.md adds one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from suite.results.speedup.verdicts import Speedup
from suite.results.stack_figures import StackFigures
from suite.stats import Estimate


class Place(StrEnum):
    """Where a column can be shown."""

    TIMING = "timing"  # the page's table "Time of one step"
    CLOCKS = "clocks"  # the page's table "Clocks, compiling and memory"
    FRAME = "frame"  # Results.stacks()
    CSV = "csv"
    JSON = "json"


TIMING, CLOCKS, FRAME, CSV, JSON = Place


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a stack: its name in the data frame, CSV and JSON, the value, and the places that show it.

    On the page `title` and, in small print, `note` head the column, where {unit} and {confidence} are filled in and a
    newline breaks the line. `unit` is a field of the report's `Units`. `drawn` is the macro of
    reports/templates/macros/columns.html.j2 that writes a cell. A column with `hidden_without`, a field of
    StackFigures, is shown only if some stack of the question has a value there.
    """

    name: str
    value: Callable[[StackFigures], Any]
    places: tuple[Place, ...]
    title: str = ""
    note: str = "{unit}"
    unit: str = ""
    drawn: str = "number"
    hidden_without: str = ""


COLUMNS = (
    Column("first_seconds", lambda stack: stack.first, (TIMING, FRAME, CSV, JSON), "First run", unit="first"),
    Column("second_seconds", lambda stack: stack.second, (TIMING, FRAME, CSV, JSON), "Second run", unit="second"),
    Column(
        "average_seconds", lambda stack: stack.average, (TIMING, FRAME, JSON), "Average\nsteady state", unit="steady"
    ),
    Column(
        "median_seconds",
        lambda stack: stack.median.value,
        (TIMING, FRAME, CSV, JSON),
        "Median",
        unit="steady",
        drawn="median",
    ),
    Column(
        "median_interval",
        lambda stack: stack.median,
        (TIMING,),
        "{confidence} interval",
        unit="steady",
        drawn="interval",
    ),
    Column("low_seconds", lambda stack: stack.median.low, (FRAME, CSV)),
    Column("high_seconds", lambda stack: stack.median.high, (FRAME, CSV)),
    Column("median_low_seconds", lambda stack: stack.median.low, (JSON,)),
    Column("median_high_seconds", lambda stack: stack.median.high, (JSON,)),
    Column("p5_seconds", lambda stack: stack.p5, (TIMING, FRAME), "p5", unit="steady"),
    Column("p95_seconds", lambda stack: stack.p95, (TIMING, FRAME), "p95", unit="steady"),
    Column("outliers", lambda stack: stack.outliers, (TIMING,), "Out-\nliers", "", drawn="count"),
    Column("dispatch_seconds", lambda stack: stack.dispatch, (CLOCKS, FRAME), "Dispatch", unit="steady"),
    Column("synced_seconds", lambda stack: stack.median.value, (CLOCKS,), "Synced", unit="steady"),
    Column("pipelined_seconds", lambda stack: stack.pipelined, (CLOCKS, FRAME), "Pipelined", unit="steady"),
    Column("fetch_seconds", lambda stack: stack.fetch, (CLOCKS, FRAME), "Fetch", unit="steady"),
    Column("items_per_second", lambda stack: stack.items_per_second, (CLOCKS, FRAME), "Throughput", unit="rate"),
    Column(
        "efficiency",
        lambda stack: stack.efficiency,
        (CLOCKS, FRAME),
        "Efficiency",
        "% of the machine's measured limit",
        drawn="hundredths",
        hidden_without="efficiency",
    ),
    Column("compile_seconds", lambda stack: stack.compile, (CLOCKS,), "Compile time", unit="compile"),
    Column(
        "compiles",
        lambda stack: stack.compiles,
        (CLOCKS,),
        "Compilations",
        "in first / second / steady runs",
        drawn="counts",
    ),
    Column("graph_breaks", lambda stack: stack.graph_breaks, (CLOCKS,), "Graph\nbreaks", "", drawn="count"),
    Column(
        "cores",
        lambda stack: stack.cores,
        (CLOCKS,),
        "Cores had",
        "least of all processes",
        drawn="count",
        hidden_without="cores",
    ),
    Column(
        "page_faults",
        lambda stack: stack.faults,
        (CLOCKS,),
        "Page faults",
        "a step",
        drawn="count",
        hidden_without="cores",
    ),
    Column("peak_bytes", lambda stack: stack.peak_bytes, (CLOCKS, FRAME), "Peak memory", unit="memory"),
    Column("relative_error", lambda stack: stack.relative_error, (CLOCKS,), "Worst error", "relative", drawn="error"),
    Column("baseline", lambda stack: stack.speedup and stack.speedup.baseline, (FRAME, CSV)),
    Column("speedup", lambda stack: stack.speedup and stack.speedup.ratio.value, (FRAME, CSV)),
    Column("speedup", lambda stack: ratio_json(stack.speedup), (JSON,)),
    Column("verdict", lambda stack: stack.speedup, (TIMING,), "Verdict", "", drawn="verdict"),
    Column("speedup", lambda stack: stack.speedup, (TIMING,), "Speedup", "", drawn="speedup"),
    Column("speedup_interval", lambda stack: stack.speedup, (TIMING,), "Interval", "", drawn="speedup_interval"),
    Column("speedup_low", lambda stack: stack.speedup and stack.speedup.ratio.low, (FRAME, CSV)),
    Column("speedup_high", lambda stack: stack.speedup and stack.speedup.ratio.high, (FRAME, CSV)),
    Column("verdict", lambda stack: stack.speedup and stack.speedup.verdict, (FRAME, CSV)),
    Column("verdict_in_set", lambda stack: stack.speedup and stack.speedup.in_set, (FRAME, CSV)),
    Column("verdict_reason", lambda stack: stack.speedup and stack.speedup.reason, (FRAME, CSV)),
    Column("two_modes", lambda stack: stack.has_modes, (FRAME, JSON)),
    Column("best_seconds", lambda stack: stack.best, (FRAME, JSON)),
    Column("spread", lambda stack: stack.spread, (FRAME, JSON)),
    Column("peak_bytes", lambda stack: stack.peak_bytes, (CSV, JSON)),
    Column("flags", lambda stack: [flag for flag, _ in stack.flags], (CSV, JSON)),
    Column("notes", lambda stack: stack.flags, (TIMING,), "Notes", "", unit="steady", drawn="notes"),
    Column(
        "kernels",
        lambda stack: stack.kernels or None,
        (CLOCKS, FRAME, JSON),
        "Kernels",
        "library and instructions, most first",
        drawn="words",
        hidden_without="kernels",
    ),
)


def columns_in(place: Place) -> list[Column]:
    """Returns the columns that a place shows, in its order."""
    return [column for column in COLUMNS if place in column.places]


def values_in(place: Place, stack: StackFigures | None) -> dict[str, Any]:
    """Returns {column: value} of one stack; empty for a stack without times."""
    return {} if stack is None else {column.name: column.value(stack) for column in columns_in(place)}


def shown_columns(place: Place, stacks: Iterable[StackFigures]) -> list[Column]:
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
