"""Who is compared with on a question: the set's baseline, or, where that has no time that counts, the fastest that has.

A stack that stands in was chosen by these very times, and each question may have another: so its ratios share the doubt
as the answers to all questions do (Bonferroni), and no ratio over it is in a geometric mean.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from suite.results.outcomes import Cell
from suite.results.speedup.verdicts import Pairing, Speedup
from suite.results.stack_figures import StackFigures
from suite.results.store.rows import NOT_RUN


def stand_in(baseline: str, cells: Sequence[Cell], figures: Sequence[StackFigures]) -> str:
    """The fastest stack that counts, where the baseline was run and doesn't; empty where it does, or may still."""
    failed = any(cell.stack == baseline and not cell.counts and cell.outcome != NOT_RUN for cell in cells)
    counting = [each for each in figures if each.counts]
    if not failed or len(counting) < 2:
        return ""
    return min(counting, key=lambda each: (each.median.value, each.stack)).stack


def over_stand_in(
    pairing: Pairing, chosen: str, question: str, figures: Sequence[StackFigures], questions: int
) -> list[StackFigures]:
    """The same figures with their ratios over the stack that stands in, on one of so many `questions`."""
    others = [each.stack for each in figures if each.counts and each.stack != chosen]
    found = sharing_doubt(pairing, chosen, others, question, of=questions * (len(others) + 1) / 2)
    of_stack = {each.stack: each for each in found}
    return [replace(each, is_baseline=each.stack == chosen, speedup=of_stack.get(each.stack)) for each in figures]


def sharing_doubt(
    pairing: Pairing, baseline: str, stacks: Collection[str], question: str | None, of: float
) -> list[Speedup]:
    """Some stacks over another baseline, a family of their own, one `of` so many that are to hold together."""
    doubt = (1 - pairing.protocol.confidence) / of
    return replace(pairing, protocol=replace(pairing.protocol, confidence=1 - doubt)).over(baseline, stacks, question)
