"""What changed from one revision to another, in a set that compares revisions: which stacks are shown to be slower, or
end in another way. Pure functions."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from suite import units
from suite.case import Outcome
from suite.results import Results
from suite.results.outcomes import gravest, outcome_words
from suite.results.within_set import compare_field, in_order, unvaried
from suite.sets.rows import Row, counted_timed
from suite.stats import Estimate
from suite.verdicts.grouping import grouped

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
        ratio = self.ratio
        if ratio is None or ratio.low is None or ratio.high is None:
            return f"{head}: {before} in {self.base}, {after} in {self.revision}. {self.reason}".strip()
        spread, limit = units.interval(ratio.low, ratio.high), units.ratio(self.threshold)
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


def changes(loaded: Results, threshold: float) -> list[Change]:
    """Returns the changes in a set that compares revisions; none of any other set."""
    file = loaded.plan_file
    if file is None or not file.revisions:
        return []
    analysis = loaded.analysis()
    comparison = compare_field(analysis.counted, "variant", loaded.protocol)
    rows = counted_timed(analysis.counted)
    base, *later = in_order({row.text("variant") for row in rows})
    over = {(it.comparison_id, it.stack): it for it in comparison.over(base)} if comparison else {}
    found = []
    for id_, group in grouped(rows, lambda row: row.case.digest("variant")).items():
        sides = grouped(group, lambda row: row.text("variant"))
        for revision in later:
            speedup = over.get((id_, revision))
            found.append(
                Change(
                    comparison.pairing.names[id_] if speedup and comparison else group[0].comparison_name,
                    unvaried(group[0]),
                    revision,
                    base,
                    (ending(sides[base]), ending(sides[revision])),
                    next((row.text("reason") for row in sides[revision] if row["outcome"] != Outcome.OK), ""),
                    threshold,
                    inverse(speedup.ratio) if speedup else None,
                    speedup.reason if speedup else "",
                )
            )
    return found


def ending(rows: Sequence[Row]) -> str:
    return gravest(row.outcome for row in rows)


def inverse(speedup: Estimate) -> Estimate:
    """Returns the ratio of times, of a speedup."""
    if speedup.low is None or speedup.high is None:
        return Estimate(1 / speedup.value, blocks=speedup.blocks)
    return Estimate(1 / speedup.value, 1 / speedup.high, 1 / speedup.low, blocks=speedup.blocks)
