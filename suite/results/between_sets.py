"""Compares one set with another. They have no block in common, so no processes are paired. Pure functions.

A case's processes in two sets are two independent samples, and the spread inside each set gives the interval of their
ratio. For a verdict, the ratio must also exceed the noise floors (A/A) of both sets, and the drift of the machine's own
speed between the runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median

from suite.case import Outcome
from suite.order import natural
from suite.protocol import Protocol
from suite.results.outcomes import gravest
from suite.results.questions.behaviour import CellKey, ClassComparison, between, classes, observations
from suite.sets.comparability import OF_MACHINE, REFUSED, Difference, Facts, case_facts, differences
from suite.sets.rows import Row, counted
from suite.stats import Estimate, Mean, Word, spread
from suite.verdicts.family import stepped_down
from suite.verdicts.grouping import grouped
from suite.verdicts.moderation import moderate
from suite.verdicts.pairing import all_seconds
from suite.verdicts.ratios import freedom
from suite.verdicts.speedups import Pairing
from suite.verdicts.verdicts import judge, why_undecided


@dataclass(frozen=True, slots=True)
class Times:
    """One set of a comparison: its name and protocol, the rows that count and their facts by case_id, the logarithms of
    their medians, the noise floors, the f32 ceiling, and the classes that its probes observed."""

    name: str
    protocol: Protocol
    cases: Mapping[str, Sequence[Row]]
    facts: Mapping[str, Facts]  # {case_id: facts}
    logs: Mapping[str, Sequence[float]]  # {case_id: ln(seconds) of each process}, of the cases with times
    floors: Mapping[str, Estimate]  # {comparison_id: noise floor}
    ceiling: float | None  # FLOP/s, at the start of the run
    observed: Mapping[CellKey, str]

    @classmethod
    def of(
        cls,
        name: str,
        rows: Iterable[Row],
        protocol: Protocol,
        ceilings: Sequence[Mapping[str, float]],
        machine: Facts | None = None,
        code: Mapping[str, Mapping[str, str]] | None = None,
    ) -> Times:
        """Returns the times of a loaded set; `machine` is its machine.json, `code` its plan's digests."""
        kept = counted(rows)
        pairing = Pairing.of(kept, protocol, "")
        cases = grouped(pairing.rows, lambda row: row.text("case_id"))
        sides = {case: (of_case[0]["comparison_id"], of_case[0].stack_name) for case, of_case in cases.items()}
        logs = {
            case: [*map(math.log, all_seconds(pairing.timings[side]))]
            for case, side in sides.items()
            if side in pairing.timings
        }
        ceiling = next((each["flops_per_second"] for each in ceilings if each.get("flops_per_second")), None)
        floors = {twin.comparison_id: twin.ratio for twin in pairing.twins()}
        facts = {case: case_facts(of_case, machine or {}, code or {}, protocol) for case, of_case in cases.items()}
        return cls(name, protocol, cases, facts, logs, floors, ceiling, classes(observations(kept)))

    def seconds(self, case: str) -> float | None:
        """Returns the geometric mean of a case's medians; None without times."""
        return math.exp(fmean(self.logs[case])) if case in self.logs else None


@dataclass(frozen=True, slots=True)
class CaseChange:
    """A case in two sets. `ratio` is its time in the first set over its time in the second (above 1: the second is
    faster), None if either set has no time; `outcomes` and `seconds` are (first, second). `reason` says why the verdict
    is undecided although the interval alone would allow one, or why the two aren't comparable."""

    name: str
    stack: str
    outcomes: tuple[str, str]
    seconds: tuple[float | None, float | None]
    ratio: Estimate | None
    verdict: Word | None
    reason: str = ""

    @property
    def why(self) -> str:
        """Returns in plain words why the ratio is undecided; empty where it isn't."""
        return why_undecided(self.verdict, self.ratio, self.reason)

    @property
    def note(self) -> str:
        """Returns what a reader must know beside the verdict."""
        return self.reason


@dataclass(frozen=True, slots=True)
class SetPair:
    """All cases of two sets, compared. `shift` is the median of the cases' ratios, `drift` the greater of the two sets'
    f32 ceilings over the smaller. `unlike` names what makes every case not comparable; if there is anything, no case
    has a verdict. `differences` are all facts in which cases differ. `alone` names the cases that only one set has.
    `observed` compares the classes that probes observed."""

    first: str
    second: str
    changes: tuple[CaseChange, ...]
    shift: float | None
    drift: float | None
    unlike: tuple[str, ...]
    alone: tuple[str, ...]
    differences: tuple[Difference, ...] = ()
    observed: ClassComparison = field(default=ClassComparison(0, ()))

    @property
    def is_of_two_machines(self) -> bool:
        """Whether nothing but the machine keeps the cases from being compared."""
        words = {each.words for each in self.differences if each.fact in OF_MACHINE}
        return bool(self.unlike) and {*self.unlike} <= words

    def regressions(self, threshold: float) -> tuple[CaseChange, ...]:
        """Returns the cases that are slower in the second set by more than `threshold`, or no longer end `ok`."""
        return tuple(
            case
            for case in self.changes
            if case.outcomes[0] == Outcome.OK != case.outcomes[1]
            or (case.verdict == "slower" and case.ratio and 1 / case.ratio.value > threshold)
        )


def compare_sets(first: Times, second: Times) -> SetPair:
    """Compares the second set with the first; a case has the same id in every set."""
    both = [case for case in first.cases if case in second.cases]
    apart = {case: differences(first.facts[case], second.facts[case]) for case in both}
    refused = {case: [each for each in found if each.consequence is REFUSED] for case, found in apart.items()}
    unlike = dict.fromkeys(each.words for found in refused.values() for each in found) if all(refused.values()) else {}
    drift = None
    if first.ceiling and second.ceiling:
        drift = max(first.ceiling / second.ceiling, second.ceiling / first.ceiling)
    # Times of two machines may stand side by side; of two questions or ways of sampling, a ratio would say nothing.
    paired = [case for case, found in refused.items() if {each.fact for each in found} <= OF_MACHINE]
    ratios = estimates(first, second, paired)
    changes = [
        change(first, second, case, ratios.get(case), drift, [each.words for each in refused[case]]) for case in both
    ]
    logs = [math.log(case.ratio.value) for case in changes if case.ratio]
    alone = [
        f"{rows[0].text('case_name')}: only in {times.name}"
        for times, other in ((first, second), (second, first))
        for case, rows in times.cases.items()
        if case not in other.cases
    ]
    return SetPair(
        first=first.name,
        second=second.name,
        changes=tuple(sorted(changes, key=lambda case: (natural(case.name), natural(case.stack)))),
        shift=math.exp(median(logs)) if logs else None,
        drift=drift,
        unlike=tuple(unlike),
        alone=tuple(alone),
        differences=tuple(dict.fromkeys(each for found in apart.values() for each in found)),
        observed=between(first.observed, second.observed),
    )


def change(
    first: Times, second: Times, case: str, ratio: Estimate | None, drift: float | None, unlike: Sequence[str]
) -> CaseChange:
    """Compares one case that both sets have; there is no verdict if it isn't comparable, since it is `unlike` in
    something."""
    rows = first.cases[case], second.cases[case]
    head = rows[0][0]
    noise = {
        f"equal processes of {times.name} differ as much": floor
        for times in (first, second)
        if (floor := times.floors.get(head["comparison_id"]))
    }
    if drift:
        noise["the machine's own speed differs as much"] = Estimate(1.0, 1 / drift, drift)
    word, reason = judge(ratio, first.protocol.tie_ratio, noise) if ratio and not unlike else (None, "")
    reason = f"not comparable, they differ in: {', '.join(unlike)}" if unlike else reason
    before, after = (gravest(row.outcome for row in of_set) for of_set in rows)
    seconds = first.seconds(case), second.seconds(case)
    return CaseChange(head.comparison_name, head.stack_name, (before, after), seconds, ratio, word, reason)


def estimates(first: Times, second: Times, cases: Iterable[str]) -> dict[str, Estimate]:
    """Returns {case_id: ratio} of those of these cases with times in both sets, estimated as one family; a ratio has no
    interval if either set has fewer than two processes."""
    timed = (case for case in cases if case in first.logs and case in second.logs)
    logs = {case: (first.logs[case], second.logs[case]) for case in timed}
    single = {case: Estimate(math.exp(fmean(before) - fmean(after))) for case, (before, after) in logs.items()}
    known = {case: unpaired(*each, first.protocol) for case, each in logs.items() if min(map(len, each)) > 1}
    return single | stepped_down(moderate(known), first.protocol.confidence)


def unpaired(first: Sequence[float], second: Sequence[float], protocol: Protocol) -> Mean:
    """Returns the difference of two means of log times, with its error and Welch's degrees of freedom (1947). Its
    number of blocks is that of a paired ratio with the same degrees of freedom."""
    parts = [spread(logs) ** 2 / len(logs) for logs in (first, second)]
    freedoms = [freedom(len(logs), protocol) for logs in (first, second)]
    denominator = sum(part**2 / free for part, free in zip(parts, freedoms, strict=True))
    free = max(1, math.floor(sum(parts) ** 2 / denominator)) if denominator else sum(freedoms)
    return Mean(fmean(first) - fmean(second), math.sqrt(sum(parts)), free, free + 1)
