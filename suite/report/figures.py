"""The figures of a report: forest plot, processes, and first, second and steady runs."""

from __future__ import annotations

from collections.abc import Sequence

from suite import units
from suite.report.plots import LogAxis, Mark, Plot, PlotRow, row_y
from suite.report.ratios import Estimate
from suite.report.summary import SummaryRow
from suite.report.tables import Comparison, StackRow
from suite.units import Unit

RATIO_UNIT = Unit("×", 1.0)


def of_comparison(c: Comparison, baseline: str, tie: float) -> tuple[Plot, ...]:
    """The figures that one comparison has data for."""
    compared = [r for r in c.rows if r.speedup is not None]
    plots = [processes(c), phases(c)] if c.rows else []
    if compared:
        entries = [
            (r.stack, Estimate(r.speedup.ratio, r.speedup.low, r.speedup.high), r.speedup.verdict)
            for r in compared
            if r.speedup is not None
        ]
        plots.insert(0, forest(f"{c.anchor}-forest", f"Speedup over {baseline}", entries, tie))
    return tuple(plots)


def of_summary(rows: Sequence[SummaryRow], baseline: str, tie: float) -> Plot | None:
    """The forest plot of the geometric means."""
    entries = [(r.stack, r.mean, "mean") for r in rows if not r.is_baseline and r.mean.value is not None]
    return forest("summary-forest", f"Geometric mean speedup over {baseline}", entries, tie) if entries else None


def forest(id_: str, title: str, entries: Sequence[tuple[str, Estimate, str]], tie: float) -> Plot:
    """Ratios with their intervals on a log axis, around 1 and the band in which a ratio is a tie."""
    values = [v for _, e, _ in entries for v in (e.value, e.low, e.high) if v is not None]
    axis = LogAxis.over([*values, 1 / tie, tie])
    rows = []
    for index, (label, estimate, verdict) in enumerate(entries):
        value = estimate.value or 1.0
        text = f"{units.ratio(value)} {units.interval(estimate.low, estimate.high)}".strip()
        known = estimate.low is not None and estimate.high is not None
        rows.append(
            PlotRow(
                label=label,
                y=row_y(index),
                marks=(Mark(axis.x(value), verdict, f"{label}: {text}, {verdict}"),),
                low=axis.x(estimate.low) if known and estimate.low else None,
                high=axis.x(estimate.high) if known and estimate.high else None,
                value=text,
                kind=verdict,
            )
        )
    words = {"faster": "faster", "slower": "slower", "tie": "tie", "undecided": "undecided", "mean": "mean"}
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
        legend=tuple((kind, word) for kind, word in words.items() if kind in seen and kind != "mean"),
    )


def processes(c: Comparison) -> Plot:
    """The steady median of every process: equal processes that differ show how little one of them proves."""
    axis = LogAxis.over([p.seconds for r in c.rows for p in r.processes])
    rows = []
    kinds = {"process": "one process", "twin": "its A/A twin", "rejected": "not counted"}
    seen = set()
    for index, row in enumerate(c.rows):
        marks = []
        for process in row.processes:
            kind = "rejected" if not process.counted or not row.counts else "process"
            kind = "twin" if process.replicate > 1 and kind == "process" else kind
            seen.add(kind)
            words = f"{row.stack}, block {process.block}, {kinds[kind]}"
            marks.append(Mark(axis.x(process.seconds), kind, f"{words}: {units.seconds(process.seconds)}"))
        spread = [p.seconds for p in row.processes]
        rows.append(
            PlotRow(
                label=row.stack if row.counts else f"✕ {row.stack}",
                y=row_y(index),
                marks=(*marks, Mark(axis.x(row.median.value or 0.0), "middle", _median_words(row, c))),
                low=axis.x(min(spread)),
                high=axis.x(max(spread)),
                value=f"max/min {units.ratio(max(spread) / min(spread))}",
                kind="thin",
            )
        )
    return Plot(
        id=f"{c.anchor}-processes",
        title="Steady median of each process",
        description="; ".join(f"{r.label}: {len(r.marks) - 1} processes, {r.value}" for r in rows),
        axis_label=f"{c.units.steady.name} a step, log scale",
        ticks=axis.ticks(c.units.steady),
        rows=tuple(rows),
        legend=(*((kind, word) for kind, word in kinds.items() if kind in seen), ("middle", "median")),
    )


def _median_words(row: StackRow, c: Comparison) -> str:
    return f"{row.stack}, median: {c.units.steady(row.median.value)}"


def phases(c: Comparison) -> Plot:
    """First, second and steady run of each stack on one log axis: what a fresh process pays before it is fast."""
    points = [[("first", r.first), ("second", r.second), ("steady", r.median.value)] for r in c.rows]
    known = [[(kind, v) for kind, v in line if v is not None and v > 0] for line in points]
    everything = [v for line in known for _, v in line]
    axis = LogAxis.over(everything)
    unit = units.time_unit(everything)
    rows = []
    for index, (row, line) in enumerate(zip(c.rows, known, strict=True)):
        values = [v for _, v in line]
        first = row.first / row.median.value if row.first and row.median.value else None
        rows.append(
            PlotRow(
                label=row.stack if row.counts else f"✕ {row.stack}",
                y=row_y(index),
                marks=tuple(Mark(axis.x(v), kind, f"{row.stack}, {kind} run: {units.seconds(v)}") for kind, v in line),
                low=axis.x(min(values)) if values else None,
                high=axis.x(max(values)) if values else None,
                value=f"first/steady {units.ratio(first)}" if first else "",
                kind="thin",
            )
        )
    return Plot(
        id=f"{c.anchor}-phases",
        title="First, second and steady run",
        description="; ".join(m.title for r in rows for m in r.marks),
        axis_label=f"{unit.name}, log scale",
        ticks=axis.ticks(unit),
        rows=tuple(rows),
        legend=(("first", "first run"), ("second", "second run"), ("steady", "steady median")),
    )
