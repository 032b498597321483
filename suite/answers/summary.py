"""Geometric means of each stack's speedups over the questions."""

from __future__ import annotations

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.figures.figure import Figure
from suite.answers.figures.ratios import ratios
from suite.answers.sentences import listed
from suite.results.frame import Frame
from suite.results.means import ALL, means
from suite.verdicts.names import slug

IS_RANKED = pl.col("lacks").list.len() == 0


@answer(
    "Summary",
    heading="Summary against {baseline}",
    terms=("geometric mean", "speedup", "interval", "baseline"),
    parts="over",
    over_baselines=True,
    grows=False,
)
def summary(frame: Frame) -> Answer | None:
    """The geometric mean of each stack's speedups over all questions, and over those of each track, number of cores,
    pass and precision where the set has several. The greatest mean is first. A stack that lacks a question leaves the
    ranking: its mean is over the questions that it answered, and stands below those of the others with what it lacks. A
    failed case enters no mean, nor does a question on which the baseline has no valid time, so that another stack
    stands in for it. The interval of a mean comes from its spread over the blocks, and the intervals of all stacks'
    means are simultaneous; they can't be derived from the intervals in the comparisons' tables."""
    analysis = frame.analysis
    table = means(analysis)
    if table.is_empty():
        return None
    groups = {str(over): group for (over,), group in table.partition_by("over", as_dict=True).items()}
    first = [best(group, analysis.baseline, over) for over, group in groups.items()]
    return Answer(
        f"Greatest mean speedup over {analysis.baseline}: {'; '.join(first)}.",
        table.with_columns(pl.col("lacks").list.join(", ")),
        figures=[drawn(group, over, frame) for over, group in groups.items()],
        also=[left(group, over) for over, group in groups.items() if not group.filter(~IS_RANKED).is_empty()],
    )


def best(group: pl.DataFrame, baseline: str, over: str) -> str:
    """Returns the stack with the greatest mean of a group of questions: `tuned track (3), jax_jit 1.28×`."""
    ranked = group.filter(IS_RANKED & (pl.col("stack") != baseline)).drop_nulls("mean")
    where = f"{over} ({group['questions'][0]})"
    if ranked.is_empty():
        return f"{where}, none, since no stack answered all"
    first = ranked.row(0, named=True)
    mean = f"{first['stack']} {units.ratio(first['mean'], first['mean_low'], first['mean_high'])}"
    return f"{where}, none is over 1× ({mean})" if first["mean"] < 1 else f"{where}, {mean}"


def left(group: pl.DataFrame, over: str) -> str:
    """Returns the stacks of a group of questions that aren't ranked."""
    lacking = group.filter(~IS_RANKED)
    words = [
        f"{stack} ({len(lacks)} of {lacking['questions'][0]})" for stack, lacks in lacking["stack", "lacks"].rows()
    ]
    return f"Not ranked over {over}, since they lack a question: {listed(words)}."


def drawn(group: pl.DataFrame, over: str, frame: Frame) -> Figure | None:
    """Returns the figure of the means that are ranked."""
    baseline = frame.analysis.baseline
    others = group.filter(IS_RANKED & (pl.col("stack") != baseline)).drop_nulls("mean")
    shown = others.select(
        "stack", verdict=pl.lit("mean"), **{f"speedup{end}": f"mean{end}" for end in ("", "_low", "_high")}
    )
    title = f"Geometric mean speedup over {baseline}, {over}"
    anchor = "-".join(["summary-over", baseline, *([] if over == ALL else [slug(over)])])
    return ratios(anchor, title, shown, frame.protocol.tie_ratio)
