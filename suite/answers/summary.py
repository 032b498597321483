"""Geometric means of each stack's speedups over the questions."""

from __future__ import annotations

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.figures.figure import Figure
from suite.answers.figures.ratios import ratios
from suite.answers.sentences import capital, counted, listed
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
    """The geometric mean of each stack's speedups over all questions, and over those of each track, pass and precision
    where the set has several. The greatest mean is first. A stack that lacks a question leaves the ranking: its mean is
    over the questions that it answered, and stands below those of the others with what it lacks. A failed case enters
    no mean, nor does a question on which the baseline has no valid time, so that another stack stands in for it. The
    interval of a mean comes from its spread over the blocks, and the intervals of all stacks' means are simultaneous;
    they can't be derived from the intervals in the comparisons' tables. A mean over a single question is that
    question's speedup, with its interval."""
    analysis = frame.analysis
    if not analysis.comparisons:
        return None
    table = means(analysis)
    by_group = table.partition_by("over", as_dict=True, maintain_order=True)
    said = {str(over): sentence(group, analysis.baseline) for (over,), group in by_group.items()}
    only = len(said) == 1
    words = "; ".join(text if only else f"{over}: {text}" for over, text in said.items())
    figures = [drawn(group, str(over), frame) for (over,), group in by_group.items()]
    return Answer(
        f"{words if words.startswith(tuple(table['stack'])) else capital(words)}." if said else none(analysis.baseline),
        table.with_columns(pl.col("lacks").list.join(", ")),
        figures=figures,
        on_console=len(analysis.all_comparisons) > 1,
    )


def none(baseline: str) -> str:
    return f"No ratio over {baseline} can be formed."


def sentence(group: pl.DataFrame, baseline: str) -> str:
    """Returns the stack with the greatest mean of a group of questions, and which stacks aren't ranked."""
    ranked = group.filter(IS_RANKED & (pl.col("stack") != baseline)).drop_nulls("mean")
    left = group.filter(~IS_RANKED)["stack"].to_list()
    rest = f" (not ranked, since they lack a question: {listed(left)})" if left else ""
    where = f"on {counted(group['questions'][0], 'question')}"
    if ranked.is_empty():
        return f"no stack answered all, so no mean ranks them{rest}"
    first = ranked.row(0, named=True)
    mean = units.ratio(first["mean"], first["mean_low"], first["mean_high"])
    if first["mean"] < 1:
        nobody = f"no stack's mean speedup is over 1×, that of {baseline}"
        return f"{nobody}; {first['stack']} has the next, {mean}, {where}{rest}"
    return f"{first['stack']} has the greatest mean speedup over {baseline}: {mean}, {where}{rest}"


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
