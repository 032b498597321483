"""The figures of a comparison: forest plot, processes, and first, second and steady runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from suite import units
from suite.answers.figures.axes import LogAxis, Mark, Plot, PlotRow, row_y
from suite.results.analysis import Comparison
from suite.results.stack_figures import Process, StackFigures
from suite.stats import Estimate
from suite.units import Unit

WORDS = {word: word for word in ("faster", "slower", "tie", "close", "undecided")}  # in the legend's order
KINDS = {"process": "one process", "twin": "its A/A twin", "rejected": "not counted"}


def comparison_plots(stacks: Sequence[StackFigures], of_run: Mapping[str, Unit], anchor: str) -> tuple[Plot, ...]:
    """Returns the figures of a comparison's times; none without a stack. `of_run` has the units that its table uses for
    the first, second and steady run."""
    if not stacks:
        return ()
    return processes(stacks, of_run["steady"], anchor), phases(stacks, of_run, anchor)


def speedup_plot(comparison: Comparison, anchor: str, tie: float) -> Plot | None:
    """Returns the plot of a comparison's speedups; None if no stack has one."""
    entries = [
        (stack.stack, stack.speedup.ratio, str(stack.speedup.verdict)) for stack in comparison.stacks if stack.speedup
    ]
    title = f"Speedup over {comparison.baseline}"
    chosen = comparison.stands_in_for or comparison.baseline  # several baselines may have the same stand-in
    return forest(f"{anchor}-over-{chosen}", title, entries, tie) if entries else None


def ratio_axis(ratios: Iterable[Estimate], tie: float) -> LogAxis:
    """Returns an axis that holds ratios with their intervals, and the band in which a ratio is a tie."""
    values = [value for ratio in ratios for value in (ratio.value, ratio.low, ratio.high) if value is not None]
    return LogAxis.over([*values, 1 / tie, tie])


def forest(
    id_: str, title: str, entries: Sequence[tuple[str, Estimate, str]], tie: float, axis: LogAxis | None = None
) -> Plot:
    """Returns a plot of ratios with their intervals on a log axis, with the band in which a ratio is a tie. Plots that
    a reader compares share their `axis`."""
    axis = axis or ratio_axis((ratio for _, ratio, _ in entries), tie)
    rows = []
    for index, (label, estimate, verdict) in enumerate(entries):
        text = units.estimate(estimate.value, estimate.low, estimate.high)
        known = estimate.low is not None and estimate.high is not None
        rows.append(
            PlotRow(
                label=label,
                y=row_y(index),
                marks=(Mark(axis.percent(estimate.value), verdict, f"{label}: {text}, {verdict}"),),
                low=axis.percent(estimate.low) if known and estimate.low else None,
                high=axis.percent(estimate.high) if known and estimate.high else None,
                value=text,
                kind=verdict,
            )
        )
    seen = {verdict for _, _, verdict in entries}
    return Plot(
        id=id_,
        title=title,
        description="; ".join(mark.title for row in rows for mark in row.marks),
        axis_label=f"speedup, log scale; shaded: tie, within {units.percent(tie - 1)}",
        ticks=axis.ticks(suffix="×"),
        rows=tuple(rows),
        band=(axis.percent(1 / tie), axis.percent(tie)),
        line=axis.percent(1.0),
        legend=tuple((kind, word) for kind, word in WORDS.items() if kind in seen),
    )


def processes(stacks: Sequence[StackFigures], unit: Unit, anchor: str) -> Plot:
    """Returns a plot of the steady median of every process: equal processes that differ show how little one of them
    proves."""
    axis = LogAxis.over([process.seconds for stack in stacks for process in stack.processes])
    rows, seen = [], set()
    for index, stack in enumerate(stacks):
        seconds = [process.seconds for process in stack.processes]
        kinds = [kind_of(process, counts=stack.counts) for process in stack.processes]
        seen |= set(kinds)
        marks = [
            Mark(
                axis.percent(process.seconds),
                kind,
                f"{stack.stack}, block {process.block}, {KINDS[kind]}: {unit(process.seconds)}",
            )
            for process, kind in zip(stack.processes, kinds, strict=True)
        ]
        middle = Mark(axis.percent(stack.median.value), "middle", f"{stack.stack}, median: {unit(stack.median.value)}")
        rows.append(
            PlotRow(
                label=label(stack),
                y=row_y(index),
                marks=(*marks, middle),
                low=axis.percent(min(seconds)),
                high=axis.percent(max(seconds)),
                value=f"max/min {units.ratio(max(seconds) / min(seconds))}",
                kind="thin",
            )
        )
    return Plot(
        id=f"{anchor}-processes",
        title="Steady median of each process",
        description="; ".join(f"{row.label}: {len(row.marks) - 1} processes, {row.value}" for row in rows),
        axis_label=f"{unit.name} a step, log scale",
        ticks=axis.ticks(unit),
        rows=tuple(rows),
        legend=(*((kind, word) for kind, word in KINDS.items() if kind in seen), ("middle", "median")),
    )


def kind_of(process: Process, *, counts: bool) -> str:
    """Returns the kind of a process's mark. `counts` says whether the times of its stack may be compared."""
    if not process.counted or not counts:
        return "rejected"
    return "twin" if process.replicate > 1 else "process"


def label(figures: StackFigures) -> str:
    """Returns the stack's name, with a cross where its times don't count."""
    return figures.stack if figures.counts else f"✕ {figures.stack}"


def phases(stacks: Sequence[StackFigures], of_run: Mapping[str, Unit], anchor: str) -> Plot:
    """Returns a plot of the first, second and steady run of each stack on one log axis: what a fresh process pays
    before it is fast."""
    runs = [
        [(kind, seconds) for kind, seconds in of_stack if seconds is not None and seconds > 0]
        for stack in stacks
        for of_stack in ([("first", stack.first), ("second", stack.second), ("steady", stack.median.value)],)
    ]
    every = [seconds for line in runs for _, seconds in line]
    axis, unit = LogAxis.over(every), units.time_unit(every)
    rows = tuple(
        PlotRow(
            label=label(stack),
            y=row_y(index),
            marks=tuple(
                Mark(axis.percent(seconds), kind, f"{stack.stack}, {kind} run: {of_run[kind](seconds)}")
                for kind, seconds in line
            ),
            low=axis.percent(min(seconds for _, seconds in line)) if line else None,
            high=axis.percent(max(seconds for _, seconds in line)) if line else None,
            value=f"first/steady {units.ratio(stack.first / stack.median.value)}" if stack.first else "",
            kind="thin",
        )
        for index, (stack, line) in enumerate(zip(stacks, runs, strict=True))
    )
    return Plot(
        id=f"{anchor}-phases",
        title="First, second and steady run",
        description="; ".join(mark.title for row in rows for mark in row.marks),
        axis_label=f"{unit.name}, log scale",
        ticks=axis.ticks(unit),
        rows=rows,
        legend=(("first", "first run"), ("second", "second run"), ("steady", "steady median")),
    )
