"""Chooses the baseline of each question: the set's baseline, or the fastest stack if the set's has no time that counts.

The stand-in is chosen by its times and then compared by the same times, which favours it. To make up for that, the
error probability is split over all pairs of the question's stacks (Bonferroni), and geometric means leave these ratios
out.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from suite.results.outcomes import Cell
from suite.results.speedup.verdicts import Pairing, Speedup
from suite.results.stack_figures import StackFigures
from suite.sets.rows import NOT_RUN


def stand_in(baseline: str, cells: Sequence[Cell], figures: Sequence[StackFigures]) -> str:
    """Returns the fastest stack if the baseline was run but has no time that counts, and two stacks or more have one.
    In every other case no stack stands in, and the result is empty."""
    failed = any(cell.stack == baseline and not cell.counts and cell.outcome != NOT_RUN for cell in cells)
    counting = [stack for stack in figures if stack.counts]
    if not failed or len(counting) < 2:
        return ""
    return min(counting, key=lambda stack: (stack.median.value, stack.stack)).stack


def over_stand_in(pairing: Pairing, chosen: str, question: str, figures: Sequence[StackFigures]) -> list[StackFigures]:
    """Returns the figures of a question's stacks with ratios over the stand-in `chosen`."""
    others = [stack.stack for stack in figures if stack.counts and stack.stack != chosen]
    speedups = sharing_doubt(pairing, chosen, others, question, families=(len(others) + 1) / 2)
    over = {speedup.stack: speedup for speedup in speedups}
    return [replace(stack, is_baseline=stack.stack == chosen, speedup=over.get(stack.stack)) for stack in figures]


def sharing_doubt(
    pairing: Pairing, baseline: str, stacks: Collection[str], question: str | None, families: float
) -> list[Speedup]:
    """Returns the speedups of these stacks over a baseline, judged as one family. The error probability is split over
    `families` such families (Bonferroni)."""
    doubt = (1 - pairing.protocol.confidence) / families
    return pairing.over(baseline, stacks, question, confidence=1 - doubt)
