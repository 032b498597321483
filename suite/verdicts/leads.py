"""Who leads a question: a stack that no other is shown to be faster than. The one rule for headlines, frames, sentences
and data."""

from __future__ import annotations

from collections.abc import Collection
from functools import lru_cache
from itertools import permutations

from suite.stats import has_modes
from suite.verdicts.grouping import grouped
from suite.verdicts.pairing import all_seconds
from suite.verdicts.speedups import Pairing
from suite.verdicts.verdicts import Speedup

Behind = frozenset[tuple[str, str]]  # pairs of stacks of a question: the first is shown to be slower than the second


def leaders(stacks: Collection[str], behind: Behind) -> tuple[str, ...]:
    """Returns those of the `stacks` that none of them is shown to be faster than, in their order."""
    return tuple(stack for stack in stacks if not any((stack, other) in behind for other in stacks))


@lru_cache(maxsize=8)
def behind(pairing: Pairing) -> dict[str, Behind]:
    """Returns, for each question, the pairs of which the first stack is shown to be slower than the second.

    Every stack is compared with each of the others as its baseline, and what any of these ratios shows counts: so
    nobody can choose a baseline that contradicts a lead.
    """
    found: dict[str, set[tuple[str, str]]] = {question: set() for question, _ in pairing.timings}
    for baseline in sorted(pairing.stacks):
        for (question, stack), speedup in pairing.over(baseline).items():
            if speedup.verdict in ("faster", "slower"):
                found[question].add((stack, baseline) if speedup.verdict == "slower" else (baseline, stack))
    for question, speedups in grouped(pairing.over(pairing.baseline).values(), lambda it: it.comparison_id).items():
        found[question] |= {(a.stack, b.stack) for a, b in permutations(speedups, 2) if is_apart(pairing, a, b)}
    return {question: frozenset(pairs) for question, pairs in found.items()}


def is_apart(pairing: Pairing, ours: Speedup, theirs: Speedup) -> bool:
    """Whether two stacks that shared fewer than two blocks, for want of memory or since one was run again, differ by
    their intervals over the baseline, which hold together: ours ends before theirs begins."""
    over = pairing.over(theirs.stack).get((ours.comparison_id, ours.stack))
    if ours.ratio.high is None or theirs.ratio.low is None or (over and over.ratio.low is not None):
        return False
    sides = [pairing.timings[ours.comparison_id, speedup.stack] for speedup in (ours, theirs)]
    return ours.ratio.high < theirs.ratio.low and not any(has_modes(all_seconds(side)) for side in sides)
