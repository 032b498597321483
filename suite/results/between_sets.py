"""Compares one set with another. They have no block in common, so no processes are paired. Pure functions.

A case's processes in two sets are two independent samples, and the spread inside each set gives the interval of their
ratio. For a verdict, the ratio must also exceed the noise floors (A/A) of both sets, and the drift of the machine's own
speed between the runs.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean, median

from suite.case import Outcome
from suite.protocol import Protocol
from suite.results.outcomes import gravest
from suite.results.questions.behaviour import CellKey, ClassComparison, between, classes, observations
from suite.sets.rows import Row, counting, judged
from suite.stats import Estimate, Mean, Word, spread
from suite.verdicts.family import stepped_down
from suite.verdicts.grouping import grouped
from suite.verdicts.moderation import moderate
from suite.verdicts.pairing import all_seconds
from suite.verdicts.ratios import freedom
from suite.verdicts.speedups import Pairing
from suite.verdicts.verdicts import judge, why_undecided

# Columns that must be equal in both sets for their times to be compared, with their names in words.
LIKE = {
    "machine_id": "machine",
    "target": "target",
    "device": "device",
    "precision": "precision",
    "threads": "cores",
    "allocator": "allocator",
    "sampling": "way of sampling",
    "limit_memory_bytes": "memory limit",
}


@dataclass(frozen=True, slots=True)
class Times:
    """One set of a comparison: its name and protocol, the rows that count by case_id, the logarithms of their medians,
    the noise floors, the f32 ceiling, and the classes that its probes observed."""

    name: str
    protocol: Protocol
    cases: Mapping[str, Sequence[Row]]
    logs: Mapping[str, Sequence[float]]  # {case_id: ln(seconds) of each process}, of the cases with times
    floors: Mapping[str, Estimate]  # {comparison_id: noise floor}
    ceiling: float | None  # FLOP/s, at the start of the run
    observed: Mapping[CellKey, str]

    @classmethod
    def of(cls, name: str, rows: Iterable[Row], protocol: Protocol, ceilings: Sequence[Mapping[str, float]]) -> Times:
        """Returns the times of a loaded set."""
        rows = list(rows)
        cases = grouped(counting(rows), lambda row: row.text("case_id"))
        pairing = Pairing.of(rows, protocol, "")
        sides = {case: (of_case[0]["comparison_id"], of_case[0].stack_name) for case, of_case in cases.items()}
        logs = {
            case: [*map(math.log, all_seconds(pairing.timings[side]))]
            for case, side in sides.items()
            if side in pairing.timings
        }
        ceiling = next((each["flops_per_second"] for each in ceilings if each.get("flops_per_second")), None)
        floors = {twin.comparison_id: twin.ratio for twin in pairing.twins()}
        return cls(name, protocol, cases, logs, floors, ceiling, classes(observations(judged(rows))))

    def seconds(self, case: str) -> float | None:
        """Returns the geometric mean of a case's medians; None without times."""
        return math.exp(fmean(self.logs[case])) if case in self.logs else None


@dataclass(frozen=True, slots=True)
class CaseChange:
    """A case in two sets. `ratio` is its time in the first set over its time in the second (above 1: the second is
    faster), None if either set has no time; `outcomes` and `seconds` are (first, second). `reason` says why the verdict
    is undecided although the interval alone would allow one."""

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
    f32 ceilings over the smaller. `unlike` names the columns that differ; if there are any, no case has a verdict.
    `alone` names the cases that only one set has, `versions` the changed packages, like `jax 0.10.1 → 0.10.2 (jax)`.
    `observed` compares the classes that probes observed."""

    first: str
    second: str
    changes: tuple[CaseChange, ...]
    shift: float | None
    drift: float | None
    unlike: tuple[str, ...]
    alone: tuple[str, ...]
    versions: tuple[str, ...] = ()
    observed: ClassComparison = field(default=ClassComparison(0, ()))

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
    unlike = unlikeness(*([row for case in both for row in times.cases[case]] for times in (first, second)))
    drift = None
    if first.ceiling and second.ceiling:
        drift = max(first.ceiling / second.ceiling, second.ceiling / first.ceiling)
    # Times of processes that were sampled alone can't be compared with those of processes that took turns.
    ratios = {} if LIKE["sampling"] in unlike else estimates(first, second)
    changes = [change(first, second, case, ratios.get(case), drift, judged=not unlike) for case in both]
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
        changes=tuple(sorted(changes, key=lambda case: (case.name, case.stack))),
        shift=math.exp(median(logs)) if logs else None,
        drift=drift,
        unlike=tuple(unlike),
        alone=tuple(alone),
        versions=tuple(changed_versions(first, second)),
        observed=between(first.observed, second.observed),
    )


def change(
    first: Times, second: Times, case: str, ratio: Estimate | None, drift: float | None, *, judged: bool
) -> CaseChange:
    """Compares one case that both sets have; there is no verdict on what isn't `judged`."""
    rows = first.cases[case], second.cases[case]
    head = rows[0][0]
    noise = {
        f"equal processes of {times.name} differ as much": floor
        for times in (first, second)
        if (floor := times.floors.get(head["comparison_id"]))
    }
    if drift:
        noise["the machine's own speed differs as much"] = Estimate(1.0, 1 / drift, drift)
    word, reason = judge(ratio, first.protocol.tie_ratio, noise) if ratio and judged else (None, "")
    before, after = (gravest(row.outcome for row in of_set) for of_set in rows)
    seconds = first.seconds(case), second.seconds(case)
    return CaseChange(head.comparison_name, head.stack_name, (before, after), seconds, ratio, word, reason)


def unlikeness(*sides: Collection[Row]) -> list[str]:
    """Returns, in words, the `LIKE` columns in which the cases of two sets differ; an unknown value isn't a
    difference."""
    values = {name: [{row[name] for row in rows} - {None} for rows in sides] for name in LIKE}
    return [LIKE[name] for name, (before, after) in values.items() if before and after and before != after]


def changed_versions(first: Times, second: Times) -> list[str]:
    """Returns the packages whose versions differ between the sets, with their environments."""
    before, after = (
        {
            (row.text("environment"), name): str(version)
            for rows in times.cases.values()
            for row in rows
            for name, version in row.mapping("versions").items()
        }
        for times in (first, second)
    )
    by_change: dict[str, list[str]] = {}
    for (environment, name), version in sorted(before.items()):
        new_version = after.get((environment, name), version)
        if new_version != version:
            by_change.setdefault(f"{name} {version} → {new_version}", []).append(environment)
    return [f"{change} ({', '.join(environments)})" for change, environments in sorted(by_change.items())]


def estimates(first: Times, second: Times) -> dict[str, Estimate]:
    """Returns {case_id: ratio} of the cases with times in both sets, estimated as one family; a ratio has no interval
    if either set has fewer than two processes."""
    logs = {case: (before, second.logs[case]) for case, before in first.logs.items() if case in second.logs}
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
