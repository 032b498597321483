"""Geometric means of each stack's speedups over the questions."""

from __future__ import annotations

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.figures.plots import forest
from suite.answers.sentences import counted
from suite.results.frame import Frame, ends
from suite.results.speedup.geometric_means import Summary
from suite.stats import Estimate


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
    names = {comparison.id: comparison.name for comparison in analysis.all_comparisons}
    ranked = sorted([*analysis.summaries, of_baseline(frame)], key=rank) if analysis.speedups else []
    table = pl.DataFrame([line(each, names) for each in ranked], infer_schema_length=None)
    return Answer(
        sentence(ranked, analysis.baseline),
        table,
        figures=[means_plot(ranked, frame)],
        also=[*filter(None, [by_own(ranked, analysis.baseline)])],
        on_console=len(names) > 1,
    )


def rank(mean: Summary) -> tuple[bool, float, str]:
    """Returns the sort key of a stack: the greatest mean over the common comparisons first. The mean over the stack's
    own comparisons doesn't rank, since it rises when a stack fails where it is slow."""
    return mean.ratio is None, -mean.common.value if mean.common else 0.0, mean.stack


def of_baseline(frame: Frame) -> Summary:
    """Returns the means of the baseline: 1, over the comparisons in which its times count."""
    analysis = frame.analysis
    cells = [cell for each in analysis.all_comparisons for cell in each.cells if cell.stack == analysis.baseline]
    shared = max((mean.n_common for mean in analysis.summaries), default=0)
    one = Estimate(1.0)
    counting = sum(cell.counts for cell in cells)
    return Summary(analysis.baseline, one, counting, len(cells), None, None, one if shared else None, shared)


def line(mean: Summary, names: dict[str, str]) -> dict[str, object]:
    """Returns one stack's line."""
    blank = Estimate(float("nan"))
    found: dict[str, object] = {"stack": mean.stack}
    for name, estimate in (("common_mean", mean.common), ("own_mean", mean.ratio)):
        found |= dict.fromkeys(ends(name, blank)) if estimate is None else ends(name, estimate)
    found |= {"common_questions": mean.n_common, "own_questions": mean.n_ok, "asked_questions": mean.n}
    for name, speedup in (("least", mean.least), ("greatest", mean.greatest)):
        found |= {name: speedup and speedup.ratio.value, f"{name}_on": names[speedup.comparison_id] if speedup else ""}
    return found


def sentence(ranked: list[Summary], baseline: str) -> str:
    """Returns the stack with the greatest mean over the common comparisons."""
    first = next((mean for mean in ranked if mean.stack != baseline and mean.ratio), None)
    if first is None:
        return f"No ratio over {baseline} can be formed."
    if first.common is None or first.n_common == 1 < first.n:
        many = "only one question" if first.common else "no question"
        return f"All stacks answered {many} together, so no mean ranks them."
    where = f"on {counted(first.n_common, 'question')} that all stacks answered"
    return f"{first.stack} has the greatest mean speedup over {baseline}: {units.ratio(first.common.value)}, {where}."


def by_own(ranked: list[Summary], baseline: str) -> str:
    """Returns which stack is first by the means over each stack's own comparisons, and why these don't rank; empty if
    it is the same stack."""
    others = [mean for mean in ranked if mean.stack != baseline and mean.ratio]
    leader = next((mean for mean in others if mean.common), None)
    first = max(others, key=lambda mean: mean.ratio.value if mean.ratio else 0.0, default=None)
    if leader is None or first is None or first.stack == leader.stack:
        return ""
    return (
        f"By the means over each stack's own comparisons {first.stack} is first ({mean_text(first.ratio)}, "
        f"{counted(first.n_ok, 'comparison')}; {leader.stack} has {mean_text(leader.ratio)}, "
        f"{counted(leader.n_ok, 'comparison')}). They don't rank, since they may cover different comparisons."
    )


def means_plot(ranked: list[Summary], frame: Frame) -> object:
    """Returns the forest plot of the means over the common comparisons, or over each stack's own if none is common."""
    baseline, is_shared = frame.analysis.baseline, any(mean.common for mean in ranked)
    means = [(mean.stack, mean.common if is_shared else mean.ratio) for mean in ranked if mean.stack != baseline]
    entries = [(stack, estimate, "mean") for stack, estimate in means if estimate]
    which = "common comparisons" if is_shared else "each stack's own comparisons"
    title = f"Geometric mean speedup over {baseline}, {which}"
    return forest(f"summary-over-{baseline}", title, entries, frame.protocol.tie_ratio) if entries else None


def mean_text(mean: Estimate | None) -> str:
    """Returns a geometric mean with its interval; a dash without a mean."""
    return units.estimate(mean.value, mean.low, mean.high) if mean else units.UNKNOWN
