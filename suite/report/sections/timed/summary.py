"""The section "Summary": geometric means of each stack's speedups over the comparisons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suite import units
from suite.report.figures.axes import Plot
from suite.report.figures.plots import forest
from suite.report.sections.section import Context, Section
from suite.report.sections.sentences import counted
from suite.report.tables import Table
from suite.results.analysis import Analysis
from suite.results.speedup.geometric_means import Summary
from suite.results.stack_columns import estimate_json
from suite.stats import Estimate


@dataclass(frozen=True, slots=True)
class SummarySection(Section):
    """The geometric means: `summaries` are those of all stacks but the baseline. `ranked` has the baseline, too, the
    greatest mean over the common comparisons first, as the page shows them; it is empty if the set has no ratio. They
    are of the whole set: `question_names` has the hidden questions, too."""

    baseline: str
    summaries: tuple[Summary, ...]
    ranked: tuple[Summary, ...]
    question_names: Mapping[str, str]
    plot: Plot | None

    name = "summary"
    nav = "Summary"
    grows = False
    key = "summary"
    terms = ("geometric mean", "common comparison", "speedup", "interval", "baseline")

    @classmethod
    def of(cls, context: Context) -> SummarySection | None:
        """Returns the section; None without a timed process."""
        return cls.over(context.analysis) if context.analysis.comparisons else None

    @classmethod
    def over(cls, analysis: Analysis) -> SummarySection:
        """Returns the section over the baseline of an analysis: the set's own, or one that a reader of the page
        chooses."""
        ranked = sorted([*analysis.summaries, baseline_summary(analysis)], key=rank) if analysis.speedups else ()
        names = {comparison.id: comparison.name for comparison in analysis.all_comparisons}
        plot = means_plot(ranked, analysis.baseline, analysis.protocol.tie_ratio)
        return cls(analysis.baseline, analysis.summaries, tuple(ranked), names, plot)

    @property
    def heading(self) -> str:
        """Returns a heading that names the baseline."""
        return f"Summary against {self.baseline}"

    @property
    def answer(self) -> str:
        """Returns the stack with the greatest mean over the common comparisons."""
        first = next((stack for stack in self.ranked if stack.stack != self.baseline and stack.ratio), None)
        if first is None:
            return f"No ratio over {self.baseline} can be formed."
        mean, number = (first.common, first.n_common) if first.common else (first.ratio, first.n_ok)
        of = "common to all stacks" if first.common else "of its own"
        words = f"{mean_text(mean)} over {counted(number, 'comparison')} {of}"
        return f"The greatest geometric mean of speedups over {self.baseline} is that of {first.stack}: {words}."

    @property
    def by_own(self) -> str:
        """Returns which stack is first by the means over each stack's own comparisons, and why these don't rank; empty
        if it is the same stack."""
        others = [stack for stack in self.ranked if stack.stack != self.baseline]
        ranked = next((stack for stack in others if stack.common), None)
        with_own = [stack for stack in others if stack.ratio]
        first = max(with_own, key=lambda stack: stack.ratio.value if stack.ratio else 0.0, default=None)
        if ranked is None or first is None or first.stack == ranked.stack:
            return ""
        return (
            f"By the means over each stack's own comparisons {first.stack} is first ({mean_text(first.ratio)}, "
            f"{counted(first.n_ok, 'comparison')}; {ranked.stack} has {mean_text(ranked.ratio)}, "
            f"{counted(ranked.n_ok, 'comparison')}). They don't rank, since they may cover different comparisons."
        )

    def console(self) -> Sequence[Table]:
        """Returns the means; nothing for one comparison, whose own table says the same."""
        return [means_table(self)] if self.ranked and len(self.question_names) > 1 else []

    def data(self) -> list[Any]:
        """Returns the means of each stack but the baseline."""
        return [summary_json(summary) for summary in self.summaries]


def rank(summary: Summary) -> tuple[bool, float, str]:
    """Returns the sort key of a stack: the greatest mean over the common comparisons first. The mean over the stack's
    own comparisons doesn't rank, since it rises when a stack fails where it is slow. Stacks without a ratio come
    last."""
    return summary.ratio is None, -summary.common.value if summary.common else 0.0, summary.stack


def baseline_summary(analysis: Analysis) -> Summary:
    """Returns the means of the baseline: 1, over the comparisons in which its times count."""
    baseline = analysis.baseline
    cells = [cell for comparison in analysis.all_comparisons for cell in comparison.cells if cell.stack == baseline]
    shared = max((summary.n_common for summary in analysis.summaries), default=0)
    over_itself = Estimate(1.0)
    counting = sum(cell.counts for cell in cells)
    common = over_itself if shared else None
    return Summary(baseline, over_itself, counting, len(cells), None, None, common, shared)


def means_plot(stacks: Sequence[Summary], baseline: str, tie: float) -> Plot | None:
    """Returns the forest plot of the means over the common comparisons, or over each stack's own comparisons if none is
    common."""
    shared = any(summary.common for summary in stacks)
    means = [(summary, summary.common if shared else summary.ratio) for summary in stacks if summary.stack != baseline]
    entries = [(summary.stack, mean, "mean") for summary, mean in means if mean]
    which = "common comparisons" if shared else "each stack's own comparisons"
    title = f"Geometric mean speedup over {baseline}, {which}"
    return forest(f"summary-over-{baseline}", title, entries, tie) if entries else None


def means_table(section: SummarySection) -> Table:
    """Returns the means for the console."""
    heads = ["stack", "common questions", "its own questions", "of planned"]
    lines = [
        [summary.stack, mean_text(summary.common), mean_text(summary.ratio), f"{summary.n_ok} of {summary.n}"]
        for summary in section.summaries
    ]
    shared = max((summary.n_common for summary in section.summaries), default=0)
    common = f"{shared} of {len(section.question_names)} questions common"
    return Table(f"Geometric mean speedup over {section.baseline}, {common}", heads, lines, numbers=heads[1:3])


def mean_text(mean: Estimate | None) -> str:
    """Returns a geometric mean with its interval; a dash without a mean."""
    return units.estimate(mean.value, mean.low, mean.high) if mean else units.UNKNOWN


def summary_json(summary: Summary) -> dict[str, Any]:
    """Returns a stack's means for JSON: over the common questions, and over its own."""
    return {
        "stack": summary.stack,
        "common": estimate_json(summary.common),
        "common_questions": summary.n_common,
        "own": estimate_json(summary.ratio),
        "own_questions": summary.n_ok,
        "asked_questions": summary.n,
    }
