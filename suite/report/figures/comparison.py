"""The figures of a report: forest plot, processes, and first, second and steady runs."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from suite import units
from suite.report.figures.axes import LogAxis, Mark, Plot, PlotRow, row_y
from suite.report.sections.comparison import Section
from suite.report.sections.summary import SummaryRow
from suite.results.stack_figures import Process, StackFigures
from suite.stats import Estimate

WORDS = {"faster": "faster", "slower": "slower", "tie": "tie", "undecided": "undecided"}  # in the legend's order
KINDS = {"process": "one process", "twin": "its A/A twin", "rejected": "not counted"}


def of_section(section: Section, tie: float) -> tuple[Plot, ...]:
    """The figures that one comparison has data for."""
    stacks = section.comparison.stacks
    if not stacks:
        return ()
    entries = [(each.stack, each.speedup.ratio, str(each.speedup.verdict)) for each in stacks if each.speedup]
    title = f"Speedup over {section.comparison.baseline}"
    speedups = [forest(f"{section.anchor}-forest", title, entries, tie)] if entries else []
    return (*speedups, processes(section), phases(section))


def of_summary(rows: Sequence[SummaryRow], baseline: str, tie: float) -> Plot | None:
    """The forest plot of the geometric means over the common comparisons; over each stack's own if there are none."""
    shared = any(row.common for row in rows)
    means = [(row, row.common if shared else row.mean) for row in rows if not row.is_baseline]
    entries = [(row.stack, mean, "mean") for row, mean in means if mean]
    which = "common comparisons" if shared else "each stack's own comparisons"
    title = f"Geometric mean speedup over {baseline}, {which}"
    return forest("summary-forest", title, entries, tie) if entries else None


def ratio_axis(ratios: Iterable[Estimate], tie: float) -> LogAxis:
    """An axis that holds ratios with their intervals, and the band in which a ratio is a tie."""
    values = [value for each in ratios for value in (each.value, each.low, each.high) if value is not None]
    return LogAxis.over([*values, 1 / tie, tie])


def forest(
    id_: str, title: str, entries: Sequence[tuple[str, Estimate, str]], tie: float, axis: LogAxis | None = None
) -> Plot:
    """Ratios with their intervals on a log axis, around 1 and the band in which a ratio is a tie; figures that are held
    against each other share their `axis`."""
    axis = axis or ratio_axis((ratio for _, ratio, _ in entries), tie)
    rows = []
    for index, (label, estimate, verdict) in enumerate(entries):
        text = units.estimate(estimate.value, estimate.low, estimate.high)
        known = estimate.low is not None and estimate.high is not None
        rows.append(
            PlotRow(
                label=label,
                y=row_y(index),
                marks=(Mark(axis.x(estimate.value), verdict, f"{label}: {text}, {verdict}"),),
                low=axis.x(estimate.low) if known and estimate.low else None,
                high=axis.x(estimate.high) if known and estimate.high else None,
                value=text,
                kind=verdict,
            )
        )
    seen = {verdict for _, _, verdict in entries}
    return Plot(
        id=id_,
        title=title,
        description="; ".join(m.title for r in rows for m in r.marks),
        axis_label=f"speedup, log scale; shaded: tie, within {units.percent(tie - 1)}",
        ticks=axis.ticks(suffix="×"),
        rows=tuple(rows),
        band=(axis.x(1 / tie), axis.x(tie)),
        line=axis.x(1.0),
        legend=tuple((kind, word) for kind, word in WORDS.items() if kind in seen),
    )


def processes(section: Section) -> Plot:
    """The steady median of every process: equal processes that differ show how little one of them proves."""
    stacks, unit = section.comparison.stacks, section.units.steady
    axis = LogAxis.over([process.seconds for each in stacks for process in each.processes])
    rows, seen = [], set()
    for index, each in enumerate(stacks):
        seconds = [process.seconds for process in each.processes]
        kinds = [kind_of(process, counts=each.counts) for process in each.processes]
        seen |= set(kinds)
        marks = [
            Mark(
                axis.x(process.seconds),
                kind,
                f"{each.stack}, block {process.block}, {KINDS[kind]}: {unit(process.seconds)}",
            )
            for process, kind in zip(each.processes, kinds, strict=True)
        ]
        middle = Mark(axis.x(each.median.value), "middle", f"{each.stack}, median: {unit(each.median.value)}")
        rows.append(
            PlotRow(
                label=label(each),
                y=row_y(index),
                marks=(*marks, middle),
                low=axis.x(min(seconds)),
                high=axis.x(max(seconds)),
                value=f"max/min {units.ratio(max(seconds) / min(seconds))}",
                kind="thin",
            )
        )
    return Plot(
        id=f"{section.anchor}-processes",
        title="Steady median of each process",
        description="; ".join(f"{r.label}: {len(r.marks) - 1} processes, {r.value}" for r in rows),
        axis_label=f"{unit.name} a step, log scale",
        ticks=axis.ticks(unit),
        rows=tuple(rows),
        legend=(*((kind, word) for kind, word in KINDS.items() if kind in seen), ("middle", "median")),
    )


def kind_of(process: Process, *, counts: bool) -> str:
    """Which mark a process gets; `counts`: its stack's times may be compared."""
    if not process.counted or not counts:
        return "rejected"
    return "twin" if process.replicate > 1 else "process"


def label(figures: StackFigures) -> str:
    """The stack's name, crossed out where its times don't count."""
    return figures.stack if figures.counts else f"✕ {figures.stack}"


def phases(section: Section) -> Plot:
    """First, second and steady run of each stack on one log axis: what a fresh process pays before it is fast."""
    stacks = section.comparison.stacks
    points = [[("first", each.first), ("second", each.second), ("steady", each.median.value)] for each in stacks]
    lines = [[(kind, seconds) for kind, seconds in line if seconds is not None and seconds > 0] for line in points]
    everything = [seconds for line in lines for _, seconds in line]
    axis, unit = LogAxis.over(everything), units.time_unit(everything)
    of = {"first": section.units.first, "second": section.units.second, "steady": section.units.steady}  # the table's
    rows = []
    for index, (each, line) in enumerate(zip(stacks, lines, strict=True)):
        values = [seconds for _, seconds in line]
        rows.append(
            PlotRow(
                label=label(each),
                y=row_y(index),
                marks=tuple(Mark(axis.x(v), kind, f"{each.stack}, {kind} run: {of[kind](v)}") for kind, v in line),
                low=axis.x(min(values)) if values else None,
                high=axis.x(max(values)) if values else None,
                value=f"first/steady {units.ratio(each.first / each.median.value)}" if each.first else "",
                kind="thin",
            )
        )
    return Plot(
        id=f"{section.anchor}-phases",
        title="First, second and steady run",
        description="; ".join(m.title for r in rows for m in r.marks),
        axis_label=f"{unit.name}, log scale",
        ticks=axis.ticks(unit),
        rows=tuple(rows),
        legend=(("first", "first run"), ("second", "second run"), ("steady", "steady median")),
    )
