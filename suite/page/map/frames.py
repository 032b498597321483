"""The stacks that lead a question, which a map frames: no other is shown to be faster.

Each pair of stacks is compared in two maps, over the one and over the other, as two families of ratios: what either
shows is believed, so that no choice of the baseline contradicts a frame.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from suite.page.sections.timed.headlines import Headline
from suite.results.analysis import Analysis, Comparison

Behind = frozenset[tuple[str, str]]  # pairs of stacks: the first is shown to be slower than the second


def behind(analyses: Iterable[Analysis], answers: Iterable[Sequence[Headline]] = ()) -> list[Behind]:
    """Returns the pairs of each question. `analyses` are those of one set by one clock, over each baseline that can be
    chosen; `answers` those in words, of steady steps, which name the fastest stack and those not shown to be slower.
    """
    questions = zip(*(analysis.comparisons for analysis in analyses), strict=True)
    found = [{pair for over in question for pair in pairs_in(over)} for question in questions]
    for answered in answers:
        for pairs, headline in zip(found, answered, strict=True):
            pairs |= {(stack, headline.lowest) for stack in headline.slower}
    return [*map(frozenset, found)]


def pairs_in(comparison: Comparison) -> Iterable[tuple[str, str]]:
    """Yields the pairs that a comparison shows: a stack and its baseline, the slower first."""
    for stack in comparison.stacks:
        if stack.speedup and stack.speedup.verdict == "slower":
            yield stack.stack, comparison.baseline
        elif stack.speedup and stack.speedup.verdict == "faster":
            yield comparison.baseline, stack.stack


def leaders(stacks: Collection[str], pairs: Behind) -> set[str]:
    """Returns those of the `stacks` that none of them is shown to be faster than."""
    return {stack for stack in stacks if not any((stack, other) in pairs for other in stacks)}
