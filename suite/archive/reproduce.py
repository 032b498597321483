"""Does a set say here what it said there? Relative claims (who is faster, by how much) apart from absolute times.

Ratios between stacks are held against ratios: each set's own are paired, block by block, and hold on their machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from suite.case import Outcome
from suite.results import Results
from suite.results.speedup.verdicts import Speedup
from suite.results.store.rows import Row, counting
from suite.stats import Estimate

# What makes two machines of one class: their ratios between stacks are expected to agree.
CLASS = {
    "cpu_model": "processor",
    "cpu_family_model_stepping": "its family, model and stepping",
    "cpu_flags": "its extensions",
    "caches": "its caches",
}


class Verdict(StrEnum):
    """Of one case, or of a whole set."""

    REPRODUCED = "reproduced"
    SHIFTED = "shifted"
    CONTRADICTED = "contradicted"  # what was faster is slower
    UNDECIDED = "undecided"  # too wide to say
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True, slots=True)
class Claim:
    """A stack over the baseline on one question, there and here. `outcomes`: what it ended as in each."""

    name: str
    stack: str
    outcomes: tuple[str, str]
    there: Speedup | None
    here: Speedup | None
    verdict: Verdict
    words: str


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Every claim of a set; `unlike`: in what the machines differ so that only who is faster is judged."""

    baseline: str
    unlike: tuple[str, ...]
    claims: tuple[Claim, ...]

    @property
    def verdict(self) -> Verdict:
        """Of the set: the worst of its claims, but what can't be said of some is said of others."""
        found = {claim.verdict for claim in self.claims}
        for worst in (Verdict.CONTRADICTED, Verdict.SHIFTED):
            if worst in found:
                return worst
        if self.unlike:
            return Verdict.NOT_COMPARABLE
        return Verdict.REPRODUCED if Verdict.REPRODUCED in found else Verdict.UNDECIDED


def reproduction(there: Results, here: Results) -> Reproduction:
    """A set held against its repetition, claim by claim."""
    unlike = tuple(
        words
        for fact, words in CLASS.items()
        if there.machine.get(fact) and there.machine.get(fact) != here.machine.get(fact)
    )
    baseline = there.baseline
    ratios = [
        {(each.comparison_id, each.stack): each for each in results.analysis(baseline).speedups}
        for results in (there, here)
    ]
    ended = [outcomes(results.rows) for results in (there, here)]
    claims = []
    for side in sorted(ended[0], key=lambda each: (ended[0][each][0], each[1])):
        name, before = ended[0][side]
        after = ended[1][side][1] if side in ended[1] else "not run"
        first, second = ratios[0].get(side), ratios[1].get(side)
        verdict, words = judged(first, second, (before, after), bool(unlike))
        if side[1] != baseline or before != after:
            claims.append(Claim(name, side[1], (before, after), first, second, verdict, words))
    return Reproduction(baseline, unlike, tuple(claims))


def outcomes(rows: Sequence[Row]) -> dict[tuple[str, str], tuple[str, str]]:
    """{(comparison_id, stack): (question, the worst outcome)} of what is timed."""
    found: dict[tuple[str, str], tuple[str, str]] = {}
    for row in counting(rows):
        side = row["comparison_id"], row.stack_name
        if side not in found or found[side][1] == Outcome.OK:
            found[side] = row.comparison_name, row.outcome
    return found


def judged(there: Speedup | None, here: Speedup | None, ended: tuple[str, str], unlike: bool) -> tuple[Verdict, str]:
    """(verdict, why) of one claim."""
    if ended[0] != ended[1]:
        return Verdict.SHIFTED, f"{ended[0]} there, {ended[1]} here"
    if there is None or here is None:
        return (Verdict.REPRODUCED, ended[0]) if ended[0] != Outcome.OK else (Verdict.UNDECIDED, "no ratio")
    words = {there.verdict, here.verdict}
    if words == {"faster", "slower"}:
        return Verdict.CONTRADICTED, f"{there.verdict} there, {here.verdict} here"
    if unlike:
        same = there.verdict == here.verdict and there.verdict != "undecided"
        return (Verdict.REPRODUCED, f"{here.verdict} on both") if same else (Verdict.NOT_COMPARABLE, "another machine")
    reach, step = together(there.ratio, here.ratio), math.log(here.ratio.value / there.ratio.value)
    if reach is None:
        return Verdict.UNDECIDED, "one block has no interval"
    if abs(step) <= reach:
        return Verdict.REPRODUCED, "within both intervals"
    return Verdict.SHIFTED, f"by {math.exp(abs(step)):.3g}×, {'up' if step > 0 else 'down'}"


def together(one: Estimate, other: Estimate) -> float | None:
    """How far two estimates of one ratio may lie apart, in logs: the root of the squares of their intervals' halves."""
    ends: list[Any] = [one.low, one.high, other.low, other.high]
    if any(end is None for end in ends):
        return None
    halves = [math.log(high / low) / 2 for low, high in (ends[:2], ends[2:])]
    return math.hypot(*halves)
