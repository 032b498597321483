"""A speedup and its verdict in words. docs/why/statistics.md has the rules."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from suite.stats import Estimate, Word, verdict
from suite.verdicts.pairing import Logs

ALONE = "sure by its question alone, not among all of the set"


@dataclass(frozen=True, slots=True)
class Speedup:
    """The speedup of a stack over the baseline on one question; of an A/A twin, over replicate 1 of the same stack.

    `ratio` and `verdict` are judged with the other ratios of the question as one family; `in_set` is the verdict with
    all ratios of the set as one family. `best` is the ratio of the best modes alone, if the processes of either stack
    run in two modes. `reason` says why the verdict is undecided although the interval alone would allow one.
    `disturbed` is the number of processes among those that count that other programs disturbed to the end.
    """

    comparison_id: str
    name: str
    stack: str
    baseline: str
    ratio: Estimate
    verdict: Word
    log_ratios: Logs  # {block: ln(t_baseline / t_stack)} of the blocks in which both are ok
    best: Estimate | None = None
    reason: str = ""
    in_set: Word = "undecided"
    disturbed: int = 0

    @property
    def why(self) -> str:
        """Returns in plain words why the ratio is undecided; empty if it isn't."""
        return why_undecided(self.verdict, self.ratio, self.reason)

    @property
    def note(self) -> str:
        """Returns the note to show beside the verdict: the `reason`, or that the verdict holds in the family of its
        question but not in that of the set."""
        alone = self.verdict in ("faster", "slower") and self.in_set != self.verdict
        return self.reason or (ALONE if alone else "")


def why_undecided(word: Word | None, ratio: Estimate | None, reason: str) -> str:
    """Returns in plain words why a ratio is undecided: the `reason`, if there is one. Empty if it isn't undecided."""
    if word != "undecided" or ratio is None:
        return ""
    return reason or ("" if ratio.low is None else "the interval contains 1×")  # a set of one block says so once


def judge(ratio: Estimate, tie: float, noise: Mapping[str, Estimate], best: Estimate | None = None) -> tuple[Word, str]:
    """Returns (verdict, the reason if it is undecided although the interval of `ratio` allows a verdict).

    `noise` is {reason: the interval of a ratio between equal processes}: a ratio that is no farther from 1 than the
    farther end of this interval, in either direction, is neither `faster` nor `slower`. `best` is the ratio of the best
    modes; None if neither stack has two modes, or if all their modes agree.
    """
    word = verdict(ratio, tie)
    if word in ("faster", "slower"):
        for reason, floor in noise.items():
            if floor.low is None or floor.high is None:
                continue
            most = max(floor.high, 1 / floor.low)  # which of two equal processes is the first is arbitrary
            if 1 / most <= ratio.value <= most:
                return "undecided", reason
    if best is not None and word not in ("undecided", of_best := verdict(best, tie)):
        if best.blocks < 2:
            return "undecided", "two modes, and the fast processes of the two stacks share fewer than two blocks"
        return "undecided", f"two modes: {word} by all processes, {of_best} by the fast ones alone"
    return word, ""
