"""The times of a comparison's stacks: of each process, and of the first, second and steady run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import polars as pl

from suite import units
from suite.answers.figures.axes import LogAxis
from suite.answers.figures.figure import Figure
from suite.results.case_row import CaseRow, Process
from suite.units import Unit

KINDS = {"process": "one process", "twin": "its A/A twin", "rejected": "not counted"}
RUNS = {"first": "first run", "second": "second run", "steady": "steady median"}


def processes(stacks: Sequence[CaseRow], unit: Unit, anchor: str) -> Figure:
    """Returns the steady median of every process: equal processes that differ show how little one of them proves."""
    marks = pl.DataFrame(
        [
            {
                "of": label(stack),
                "shape": "mark",
                "kind": (kind := kind_of(process, counts=stack.counts)),
                "x": process.seconds,
                "title": f"{stack.stack}, block {process.block}, {KINDS[kind]}: {unit(process.seconds)}",
            }
            for stack in stacks
            for process in stack.processes
        ]
    )
    middles = [(label(stack), stack.steady, f"{stack.stack}, median: {unit(stack.steady)}") for stack in stacks]
    axis, spans = LogAxis.over(marks["x"]), spans_of(marks)
    apart = (units.ratio(span["high"] / span["low"]) for span in spans.iter_rows(named=True))
    return Figure(
        id=f"{anchor}-processes",
        title="Steady median of each process",
        names=[label(stack) for stack in stacks],
        values=[f"max/min {ratio}" for ratio in apart],
        marks=[
            spans,
            marks,
            pl.DataFrame(middles, schema=["of", "x", "title"], orient="row").with_columns(
                shape=pl.lit("mark"), kind=pl.lit("middle")
            ),
        ],
        across=axis,
        ticks=axis.ticks(unit),
        label=f"{unit.name} a step, log scale",
        legend=[
            *(("mark", kind, word) for kind, word in KINDS.items() if kind in marks["kind"].to_list()),
            ("mark", "middle", "median"),
        ],
    )


def runs(stacks: Sequence[CaseRow], of_run: Mapping[str, Unit], anchor: str) -> Figure:
    """Returns the first, second and steady run of each stack: what a fresh process pays before it is fast. `of_run` has
    the units that the comparison's table uses."""
    marks = pl.DataFrame(
        [
            {
                "of": label(stack),
                "shape": "mark",
                "kind": run,
                "x": seconds,
                "title": f"{stack.stack}, {run} run: {of_run[run](seconds)}",
            }
            for stack in stacks
            for run, seconds in zip(RUNS, (stack.first_seconds, stack.second_seconds, stack.steady), strict=True)
            if seconds is not None and seconds > 0
        ]
    )
    axis, unit = LogAxis.over(marks["x"]), units.time_unit(marks["x"])
    return Figure(
        id=f"{anchor}-phases",
        title="First, second and steady run",
        names=[label(stack) for stack in stacks],
        values=[
            f"first/steady {units.ratio(stack.first_seconds / stack.steady)}" if stack.first_seconds else ""
            for stack in stacks
        ],
        marks=[spans_of(marks), marks],
        across=axis,
        ticks=axis.ticks(unit),
        label=f"{unit.name}, log scale",
        legend=[("mark", run, words) for run, words in RUNS.items()],
    )


def spans_of(marks: pl.DataFrame) -> pl.DataFrame:
    return marks.group_by("of", maintain_order=True).agg(
        low=pl.min("x"), high=pl.max("x"), shape=pl.lit("span"), kind=pl.lit("thin")
    )


def kind_of(process: Process, *, counts: bool) -> str:
    """Returns the kind of a process's mark. `counts` says whether the times of its stack may be compared."""
    if not process.counted or not counts:
        return "rejected"
    return "twin" if process.replicate > 1 else "process"


def label(figures: CaseRow) -> str:
    """Returns the stack's name, with a cross where its times don't count."""
    return figures.stack if figures.counts else f"✕ {figures.stack}"
