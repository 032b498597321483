"""The answer to each question in one honest sentence, as plain data: the page and the console print it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from suite import units
from suite.report.sections.comparison import column_units
from suite.report.sections.outcomes import outcome_text
from suite.results.analysis import Analysis, Comparison
from suite.results.speedup.verdicts import Speedup
from suite.results.stack_figures import StackFigures

MOST_RIVALS = 4  # more are counted, not listed
VERDICTS = {"faster": "", "tie": ", a tie", "undecided": ", undecided", "slower": ", slower"}


@dataclass(frozen=True, slots=True)
class Headline:
    """One comparison's answer. The sentence is `lead` for `question`: `fastest` `rest`.

    `seconds` is the fastest stack's median, `speedup` its ratio to the baseline (None where the baseline
    is fastest or has no `ok` row), `rivals` the stacks whose times can't be told from it. `has_interval`: its
    median is of two blocks and more, so that it may stand out.
    """

    question: str
    lead: str
    fastest: str
    rest: str
    seconds: float | None
    speedup: Speedup | None
    rivals: tuple[str, ...]
    ok: int
    planned: int
    has_interval: bool = False

    @property
    def text(self) -> str:
        """The sentence as plain text."""
        return f"{self.lead} for {self.question}: {self.fastest}{self.rest}"


def headlines(analysis: Analysis) -> tuple[Headline, ...]:
    """One answer a comparison, in the order of the comparisons."""
    return tuple(headline(comparison, analysis) for comparison in analysis.comparisons)


def headline(comparison: Comparison, analysis: Analysis) -> Headline:
    """The answer to one question; of a set that isn't complete only what it says so far."""
    counting = [figures for figures in comparison.stacks if figures.counts]
    complete, planned = analysis.not_run == 0, len(comparison.cells)
    lost = sum(cell.failed for cell in comparison.cells)
    tail = f" {lost} of {planned} stacks did not end ok." if lost else ""
    if not counting:
        lead = "No answer" if complete else "No answer so far"
        rest = f"no stack {'produced' if complete else 'has'} a time that counts.{tail}"
        return Headline(comparison.name, lead, "", rest, None, None, (), 0, planned)
    unit = column_units(comparison).steady
    first, time = counting[0], unit(counting[0].median.value)
    rivals: tuple[str, ...] = ()
    if len(counting) == 1:
        lead = "Only answer" if complete else "So far the only answer"
        rest = f", {time}: no other stack has a time that counts"
    else:
        rivals = rivals_of(first, counting, comparison, analysis)
        lead = ("Lowest median" if rivals else "Fastest") if complete else "So far the lowest median"
        rest = f", {time}{against(first, counting, comparison)}"
        rest += f" ({outcome_text(first.cell)})" if first.cell.failed else ""
        rest += f"; not shown to be faster than {listed(rivals)}" if rivals else ""
    rest += f"; {first.speedup.reason}" if first.speedup and first.speedup.reason else ""
    return Headline(
        comparison.name,
        lead,
        first.stack,
        f"{rest}.{tail}{modes(counting, unit)}",
        first.median.value,
        first.speedup,
        rivals,
        len(counting),
        planned,
        first.median.low is not None,
    )


def rivals_of(
    first: StackFigures, counting: Sequence[StackFigures], comparison: Comparison, analysis: Analysis
) -> tuple[str, ...]:
    """The stacks that paired blocks don't show to be slower than the one with the lowest median.

    The answers to all questions of a set hold together, each with its share of the doubt. And whoever has the lowest
    median was chosen by these very times: any stack could have been it, each with a share of its own; of each share
    half would go to stacks found faster, which is no answer's error.
    """
    others = [figures.stack for figures in counting if figures.stack != first.stack]
    shares = len(analysis.comparisons) * len(counting) / 2
    over_first = analysis.over(first.stack, others, comparison.id, of=shares)
    slower = {stack for (_, stack), speedup in over_first.items() if speedup.verdict == "slower"}
    return tuple(stack for stack in others if stack not in slower)


def standing_in(comparison: Comparison) -> str:
    """That another stack takes the baseline's place on a question, and why, as a sentence; empty where none does."""
    cell = comparison.cell_of_baseline
    if not comparison.stands_in_for or cell is None:
        return ""
    return (
        f"On {comparison.name} the baseline {comparison.stands_in_for} has no time that counts "
        f"({outcome_text(cell)}): {comparison.baseline}, the fastest that has one, stands in for it."
    )


def against(first: StackFigures, counting: Sequence[StackFigures], comparison: Comparison) -> str:
    """The fastest stack's ratio to the baseline in words, or why there is none."""
    baseline = comparison.baseline
    if comparison.stands_in_for:
        return f" (in place of the baseline {comparison.stands_in_for}, which has no time that counts)"
    if first.is_baseline:
        return " (the baseline)"
    if not any(figures.is_baseline for figures in counting):
        return f"; no ratio, the baseline {baseline} has no ok row"
    if first.speedup is None:
        return f"; no block pairs it with the baseline {baseline}"
    ratio = first.speedup.ratio
    measured = f"{units.ratio(ratio.value)} {baseline}"
    if ratio.low is None:
        return f", {measured} (one block: no interval, undecided)"
    return f", {measured} {units.interval(ratio.low, ratio.high)}{VERDICTS[first.speedup.verdict]}"


def modes(counting: Sequence[StackFigures], unit: units.Unit) -> str:
    """The stacks whose processes run in two modes, as a sentence of its own."""
    stacks = [f"{figures.stack} ({modes_text(figures, unit)})" for figures in counting if figures.has_modes]
    return f" Two modes: {'; '.join(stacks)}." if stacks else ""


def modes_text(figures: StackFigures, unit: units.Unit) -> str:
    """`max/min 3.6×, best 36.0 ms, mean 62.1 ms` of processes in two modes."""
    best, mean = unit(figures.best), unit(figures.median.value)
    return f"max/min {units.ratio(figures.spread)}, best {best}, mean {mean}"


def listed(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and 5 others`."""
    if len(names) == 1:
        return names[0]
    first, last = (names[:-1], names[-1]) if len(names) <= MOST_RIVALS else (names[:2], f"{len(names) - 2} others")
    return f"{', '.join(first)} and {last}"
