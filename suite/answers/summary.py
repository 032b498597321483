"""Geometric means of each stack's speedups over the questions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.figures.figure import Figure
from suite.answers.figures.ratios import ratios
from suite.answers.sentences import counted
from suite.results.frame import Frame, ends

TYPES: dict[str, Any] = {
    "stack": pl.String,
    **dict.fromkeys(("common_mean", "common_mean_low", "common_mean_high"), pl.Float64),
    **dict.fromkeys(("own_mean", "own_mean_low", "own_mean_high"), pl.Float64),
    **dict.fromkeys(("common_questions", "own_questions", "asked_questions"), pl.Int64),
    "least": pl.Float64,
    "least_on": pl.String,
    "greatest": pl.Float64,
    "greatest_on": pl.String,
}


@answer(
    "Summary",
    heading="Summary against {baseline}",
    terms=("geometric mean", "common comparison", "speedup", "interval", "baseline"),
    over_baselines=True,
    grows=False,
)
def summary(frame: Frame) -> Answer | None:
    """Each stack has two geometric means of its speedups. The mean over the *common* comparisons covers those in which
    all stacks with any speedup have one; it decides the ranking. The mean over the stack's *own* comparisons covers all
    in which this stack has a speedup. The interval of a mean comes from its spread over the blocks, and the intervals
    of all stacks' means are simultaneous. They can't be derived from the intervals in the comparisons' tables, which
    are simultaneous within one comparison. A mean over a single comparison is that comparison's speedup, with its
    interval. A failed case enters no mean: it lowers the number of comparisons that count, and can't raise a stack's
    rank. A comparison in which the baseline has no valid time, so that another stack stands in for it, enters no
    mean."""
    analysis = frame.analysis
    if not analysis.comparisons:
        return None
    baseline = analysis.baseline
    table = pl.DataFrame([*lines(frame)] if analysis.speedups else [], schema=TYPES).sort(
        pl.col("own_mean").is_null(), -pl.col("common_mean").fill_null(0.0), "stack"
    )
    others = table.filter(pl.col("stack") != baseline).drop_nulls("own_mean")
    return Answer(
        sentence(others.rows(named=True), baseline),
        table,
        figures=[means(others, frame)],
        also=[*filter(None, [by_own(others.rows(named=True))])],
        on_console=len(analysis.all_comparisons) > 1,
    )


def lines(frame: Frame) -> Iterator[dict[str, Any]]:
    """Yields each stack's means. Those of the baseline are 1, over the comparisons in which its times count."""
    analysis = frame.analysis
    names = {comparison.id: comparison.name for comparison in analysis.all_comparisons}
    for mean in analysis.summaries:
        yield {
            "stack": mean.stack,
            **(ends("common_mean", mean.common) if mean.common else {}),
            **(ends("own_mean", mean.ratio) if mean.ratio else {}),
            "common_questions": mean.n_common,
            "own_questions": mean.n_ok,
            "asked_questions": mean.n,
            "least": mean.least and mean.least.ratio.value,
            "least_on": names[mean.least.comparison_id] if mean.least else "",
            "greatest": mean.greatest and mean.greatest.ratio.value,
            "greatest_on": names[mean.greatest.comparison_id] if mean.greatest else "",
        }
    cells = [cell for each in analysis.all_comparisons for cell in each.cells if cell.stack == analysis.baseline]
    shared = max((mean.n_common for mean in analysis.summaries), default=0)
    counts = {"common_questions": shared, "own_questions": sum(cell.counts for cell in cells)}
    means_ = {"own_mean": 1.0, "common_mean": 1.0 if shared else None, "least_on": "", "greatest_on": ""}
    yield {"stack": analysis.baseline, **means_, **counts, "asked_questions": len(cells)}


def sentence(others: Sequence[Mapping[str, Any]], baseline: str) -> str:
    """Returns the stack with the greatest mean over the common comparisons."""
    if not others:
        return f"No ratio over {baseline} can be formed."
    first = others[0]
    mean, common = first["common_mean"], first["common_questions"]
    if mean is None or common == 1 < first["asked_questions"]:
        many = "no question" if mean is None else "only one question"
        return f"All stacks answered {many} together, so no mean ranks them."
    where = f"on {counted(common, 'question')} that all stacks answered"
    return f"{first['stack']} has the greatest mean speedup over {baseline}: {units.ratio(mean)}, {where}."


def by_own(others: Sequence[Mapping[str, Any]]) -> str:
    """Returns which stack is first by the means over each stack's own comparisons, and why these don't rank; empty if
    it is the same stack. They would rise when a stack fails where it is slow."""
    leader = next((line for line in others if line["common_mean"] is not None), None)
    first = max(others, key=lambda line: line["own_mean"], default=None)
    if leader is None or first is None or first["stack"] == leader["stack"]:
        return ""
    best, own = (
        units.estimate(line["own_mean"], line["own_mean_low"], line["own_mean_high"]) for line in (first, leader)
    )
    many, number = (counted(line["own_questions"], "comparison") for line in (first, leader))
    return (
        f"By the means over each stack's own comparisons {first['stack']} is first ({best}, {many}; {leader['stack']} "
        f"has {own}, {number}). They don't rank, since they may cover different comparisons."
    )


def means(others: pl.DataFrame, frame: Frame) -> Figure | None:
    """Returns the figure of the means over the common comparisons, or over each stack's own if none is common."""
    which, name = "common comparisons", "common_mean"
    if others["common_mean"].is_null().all():
        which, name = "each stack's own comparisons", "own_mean"
    of_figure = {f"{name}{end}": f"speedup{end}" for end in ("", "_low", "_high")}
    shown = others.select("stack", *of_figure, verdict=pl.lit("mean")).rename(of_figure)
    baseline = frame.analysis.baseline
    title = f"Geometric mean speedup over {baseline}, {which}"
    return ratios(f"summary-over-{baseline}", title, shown, frame.protocol.tie_ratio)
