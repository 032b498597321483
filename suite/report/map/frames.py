"""Chooses the stacks that a map frames as the best of a question: those that no other is shown to be faster than.

A frame and the cells are of the same ratios. Each pair of stacks is compared in two maps, over the one and over the
other, as two families of ratios: what either shows is believed, so that no choice of the baseline contradicts a frame.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from suite.report.sections.timed.headlines import Headline
from suite.results.analysis import Analysis, Comparison

SYNCED = "synced"


def frames(analysis: Analysis, headlines: Sequence[Headline], overtaken: Sequence[frozenset[str]]) -> list[set[str]]:
    """Returns the stacks to frame on each question: those with a time by the clock of the analysis that aren't
    `overtaken`. Of steady steps there is an answer in words, too (`headlines`): only the fastest that it names, and
    those that it doesn't call slower, are framed."""
    if analysis.pairing.clock == SYNCED:
        among = [{headline.lowest, *headline.rivals} for headline in headlines]
    else:
        among = [timed(comparison, analysis) for comparison in analysis.comparisons]
    return [stacks - slower for stacks, slower in zip(among, overtaken, strict=True)]


def timed(comparison: Comparison, analysis: Analysis) -> set[str]:
    """Returns the stacks of a question with a time by the clock of the analysis that counts."""
    known = analysis.pairing.timings
    return {stack.stack for stack in comparison.stacks if stack.counts and (comparison.id, stack.stack) in known}


def overtaken(analyses: Iterable[Analysis]) -> list[frozenset[str]]:
    """Returns the stacks of each question that some other is shown to be faster than. `analyses` are those of one set
    by one clock, over each baseline that can be chosen."""
    by_question = zip(*(analysis.comparisons for analysis in analyses), strict=True)
    return [frozenset(stack for over in comparisons for stack in slower_in(over)) for comparisons in by_question]


def slower_in(comparison: Comparison) -> Iterable[str]:
    """Yields the stacks that a comparison shows to be slower: than its baseline, or as its baseline."""
    for stack in comparison.stacks:
        if stack.speedup and stack.speedup.verdict == "slower":
            yield stack.stack
        elif stack.speedup and stack.speedup.verdict == "faster":
            yield comparison.baseline
