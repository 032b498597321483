"""What changed from one revision to another, in a set that compares revisions: which stacks are shown to be slower, or
end in another way. Pure functions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from suite import units
from suite.case import Outcome
from suite.results.analysis import Analysis
from suite.results.outcomes import gravest, outcome_words
from suite.results.within_set import FieldComparison, in_order, unvaried
from suite.sets.plan import PlanFile
from suite.sets.rows import counted_timed
from suite.stats import Estimate
from suite.verdicts.grouping import grouped
from suite.verdicts.names import question_names

WORSE = (Outcome.WRONG, Outcome.DIFFER)  # outcomes of two revisions that are no better where both have them
BLOCKS_MOST = 1000  # whatever needs more can't be decided


@dataclass(frozen=True, slots=True)
class Change:
    """One stack on one question in a revision and in the one before. `ratio` is its time over the time before, so above
    1 it is slower; None without times. `noise` says why no verdict stands although the interval alone allows one.
    `threshold` is the ratio from which on a slower stack counts."""

    question: str
    stack: str
    revision: str
    base: str
    outcomes: tuple[str, str]
    reason: str
    threshold: float
    ratio: Estimate | None = None
    noise: str = ""

    @property
    def is_worse(self) -> bool:
        """Whether it is shown to be slower by more than the threshold, by its whole interval, or no longer ends ok."""
        before, after = self.outcomes
        slower = self.ratio is not None and (self.ratio.low or 0.0) > self.threshold and not self.noise
        return slower or after in WORSE or (before == Outcome.OK != after)

    @property
    def is_decided(self) -> bool:
        ratio = self.ratio
        return self.is_worse or (ratio is not None and ratio.high is not None and ratio.high <= self.threshold)

    @property
    def blocks(self) -> int | None:
        """Returns how many blocks would decide it, by the spread of those that ran; None if it is decided, or can't be
        said. An interval's width falls with the square root of their number."""
        ratio = self.ratio
        if self.is_decided or ratio is None or not ratio.low or ratio.high is None:
            return None
        half, apart = math.log(ratio.high / ratio.low) / 2, abs(math.log(ratio.value / self.threshold))
        needed = ratio.blocks * (half / apart) ** 2 if apart else math.inf
        return math.ceil(needed) if needed <= BLOCKS_MOST else None

    @property
    def sentence(self) -> str:
        head, (before, after) = f"{self.stack} on {self.question}", (outcome_words(it, "") for it in self.outcomes)
        ratio, limit = self.ratio, units.ratio(self.threshold)
        if ratio is None:
            why = f": {self.reason}" if self.reason else ""
            return f"{head}: {before} in {self.base}, {after} in {self.revision}{why}."
        spread = units.interval(ratio.low, ratio.high) or "(a single block has no interval)"
        took = f"{head}: {self.revision} takes {units.ratio(ratio.value)} {spread} of the time of {self.base}"
        if self.is_decided:
            return f"{took}: {'slower' if self.is_worse else 'not slower'} by more than {limit}."
        more = f" About {self.blocks} blocks would decide it: --repeats={self.blocks}." if self.blocks else ""
        return f"{took}: undecided whether it is slower by more than {limit}{self.noise and f' ({self.noise})'}.{more}"

    def to_json(self) -> dict[str, Any]:
        names = ("question", "stack", "revision", "base", "outcomes", "reason", "threshold")
        said = {name: getattr(self, name) for name in (*names, "is_worse", "is_decided", "blocks", "sentence")}
        ratio = self.ratio or Estimate(math.nan)
        return said | {"time_ratio": ratio.value, "time_ratio_low": ratio.low, "time_ratio_high": ratio.high}


def changes(file: PlanFile | None, analysis: Analysis, threshold: float) -> list[Change]:
    """Returns the changes in a set that compares revisions; none of any other set, and of one without times."""
    if file is None or not file.revisions:
        return []
    rows, within = counted_timed(analysis.counted), by_variant(analysis)
    names = question_names([*{row["comparison_id"]: row for row in rows}.values()])
    if not rows:
        return []
    base, *later = in_order({row.text("variant") for row in rows})
    over = {(it.comparison_id, it.stack): it for it in within.over(base)} if within else {}
    found = []
    for id_, group in grouped(rows, lambda row: row.case.digest("variant")).items():
        sides = grouped(group, lambda row: row.text("variant"))
        ends = {value: gravest(row.outcome for row in sides[value]) for value in sides}
        for revision in later:
            speedup = over.get((id_, revision))
            found.append(
                Change(
                    names[group[0]["comparison_id"]],
                    unvaried(group[0]),
                    revision,
                    base,
                    (ends[base], ends[revision]),
                    next((row.text("reason") for row in group if row["outcome"] != Outcome.OK), ""),
                    threshold,
                    inverse(speedup.ratio) if speedup else None,
                    speedup.reason if speedup else "",
                )
            )
    return found


def by_variant(analysis: Analysis) -> FieldComparison | None:
    return next((each for each in analysis.within_set if each.field == "variant"), None)


def inverse(speedup: Estimate) -> Estimate:
    """Returns the ratio of times, of a speedup."""
    low, high = (end and 1 / end for end in (speedup.high, speedup.low))
    return Estimate(1 / speedup.value, low, high, blocks=speedup.blocks)
