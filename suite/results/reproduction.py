"""Compares a set with its repetition by relative claims: which stack is faster, and by how much. Absolute times are
never compared.

A speedup is compared with a speedup. Each is computed block by block within its own set, and so on one machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from suite.case import Outcome
from suite.results import Results
from suite.results.outcomes import gravest
from suite.sets.comparability import OF_PROCESSOR, machines_differ
from suite.sets.rows import Row, counted, counted_timed
from suite.stats import Estimate, reach
from suite.verdicts.grouping import grouped
from suite.verdicts.verdicts import Speedup

NOT_RUN = "not run"  # in the repetition: no outcome


class ClaimResult(StrEnum):
    """The result of checking a claim, or all claims of a set."""

    REPRODUCED = "reproduced"
    SHIFTED = "shifted"
    CONTRADICTED = "contradicted"  # faster became slower, or slower faster
    UNDECIDED = "undecided"  # the intervals are too wide
    NOT_COMPARABLE = "not comparable"


@dataclass(frozen=True, slots=True)
class Claim:
    """A stack's speedup over its question's baseline: in the set (`there`) and in its repetition (`here`).
    `outcomes` are the stack's outcomes in both, in this order; `words` is the reason for the result."""

    name: str
    stack: str
    outcomes: tuple[str, str]
    there: Speedup | None
    here: Speedup | None
    result: ClaimResult
    words: str


@dataclass(frozen=True, slots=True)
class Reproduction:
    """Every claim of a set. `unlike` names the facts in which the two machines' processors differ. If there are any,
    only the question which stack is faster is judged, not by how much."""

    baseline: str
    unlike: tuple[str, ...]
    claims: tuple[Claim, ...]

    @property
    def result(self) -> ClaimResult:
        """Returns the worst result of the claims. Undecided claims count only if no claim is reproduced."""
        results = {claim.result for claim in self.claims}
        for worst in (ClaimResult.CONTRADICTED, ClaimResult.SHIFTED):
            if worst in results:
                return worst
        if self.unlike:
            return ClaimResult.NOT_COMPARABLE
        return ClaimResult.REPRODUCED if ClaimResult.REPRODUCED in results else ClaimResult.UNDECIDED


def confirms(there: Results, here: Results) -> bool:
    """Whether one set of a plan reproduces a claim of another and neither shifts nor contradicts one."""
    found = {claim.result for claim in reproduction(there, here).claims}
    return ClaimResult.REPRODUCED in found and not found & {ClaimResult.SHIFTED, ClaimResult.CONTRADICTED}


def reproduction(there: Results, here: Results) -> Reproduction:
    """Returns the comparison of a set, `there`, with its repetition, `here`, claim by claim. Speedups are expected to
    agree only between machines with the same processor."""
    unlike = tuple(machines_differ(there.machine, here.machine, OF_PROCESSOR))
    baseline = there.baseline
    analyses = [results.analysis(baseline) for results in (there, here)]
    speedups = [
        {(speedup.comparison_id, speedup.stack): speedup for speedup in analysis.speedups} for analysis in analyses
    ]
    own = {(each.id, each.stands_in_for or each.baseline) for each in analyses[0].comparisons}
    ended = [outcomes(results.rows) for results in (there, here)]
    claims = []
    for side in sorted(ended[0], key=lambda side: (ended[0][side][0], side[1])):
        name, before = ended[0][side]
        after = ended[1][side][1] if side in ended[1] else NOT_RUN
        first, second = speedups[0].get(side), speedups[1].get(side)
        result, words = judge(first, second, (before, after), bool(unlike))
        if side not in own or before != after:
            claims.append(Claim(name, side[1], (before, after), first, second, result, words))
    return Reproduction(analyses[0].baseline_words, unlike, tuple(claims))


def outcomes(rows: Sequence[Row]) -> dict[tuple[str, str], tuple[str, str]]:
    """Returns {(comparison_id, stack): (question, gravest outcome of its processes)}."""
    by_side = grouped(counted_timed(counted(rows)), lambda row: (row.text("comparison_id"), row.stack_name))
    return {
        side: (processes[0].comparison_name, gravest(row.outcome for row in processes))
        for side, processes in by_side.items()
    }


def judge(there: Speedup | None, here: Speedup | None, ended: tuple[str, str], unlike: bool) -> tuple[ClaimResult, str]:
    """Returns the result of one claim, and the reason. `ended` are its outcomes there and here; `unlike` says that the
    machines differ."""
    if ended[0] != ended[1]:
        return ClaimResult.SHIFTED, f"{ended[0]} there, {ended[1]} here"
    if there is None or here is None:
        return (ClaimResult.REPRODUCED, ended[0]) if ended[0] != Outcome.OK else (ClaimResult.UNDECIDED, "no ratio")
    words = {there.verdict, here.verdict}
    if words == {"faster", "slower"}:
        return ClaimResult.CONTRADICTED, f"{there.verdict} there, {here.verdict} here"
    if unlike:
        if there.verdict == here.verdict != "undecided":
            return ClaimResult.REPRODUCED, f"{here.verdict} on both"
        return ClaimResult.NOT_COMPARABLE, "another machine"
    most, step = combined(there.ratio, here.ratio), math.log(here.ratio.value / there.ratio.value)
    if most is None:
        return ClaimResult.UNDECIDED, "a speedup of one block has no interval"
    if abs(step) <= most:
        return ClaimResult.REPRODUCED, "within both intervals"
    return ClaimResult.SHIFTED, f"by {math.exp(abs(step)):.3g}×, {'up' if step > 0 else 'down'}"


def combined(there: Estimate, here: Estimate) -> float | None:
    """Returns how far the logarithms of two estimates of the same ratio may differ by chance: the square root of the
    sum of the squared half-widths of their intervals. None if one of them has no interval."""
    ours, theirs = reach(there), reach(here)
    return math.hypot(math.log(ours), math.log(theirs)) if ours and theirs else None
