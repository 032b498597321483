"""Compares one set with another. They have no block in common, so no processes are paired. Pure functions.

A case's processes in two sets are two independent samples, and the spread inside each set gives the interval of their
ratio. For a verdict, the ratio must also exceed the noise floors (A/A) of both sets, and the drift of the machine's own
speed between the runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median

from suite.case import Outcome
from suite.protocol import Protocol
from suite.results.outcomes import gravest
from suite.results.questions.behaviour import CellKey, ClassComparison, between, classes, observations
from suite.results.questions.grouping import grouped
from suite.results.speedup.family import Pool, Sample, cut, simultaneous
from suite.results.speedup.pairing import all_seconds
from suite.results.speedup.ratios import freedom
from suite.results.speedup.verdicts import Pairing, judge, why_undecided
from suite.sets.rows import Row, counting, judged
from suite.stats import Estimate, Word, spread

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
    """One set of a comparison: its name, the processes and rows that count, the noise floors, the f32 ceiling, and the
    classes that its probes observed."""

    name: str
    pairing: Pairing
    rows: tuple[Row, ...]
    floors: Mapping[str, Estimate]  # {comparison_id: noise floor}
    ceiling: float | None  # FLOP/s, at the start of the run
    observed: Mapping[CellKey, str]

    @classmethod
    def of(cls, name: str, rows: Iterable[Row], protocol: Protocol, ceilings: Sequence[Mapping[str, float]]) -> Times:
        """Returns the times of a loaded set."""
        rows = list(rows)
        counted = tuple(counting(rows))
        pairing = Pairing.of(counted, protocol)
        flops_per_second = [reading["flops_per_second"] for reading in ceilings if reading.get("flops_per_second")]
        floors = {twin.comparison_id: twin.ratio for twin in pairing.twins()}
        observed = classes(observations(judged(rows)))
        return cls(name, pairing, counted, floors, next(iter(flops_per_second), None), observed)

    def logs(self, row: Row) -> list[float]:
        """Returns the logarithms of the medians, in seconds, of all processes of a row's case."""
        return [*map(math.log, all_seconds(self.pairing.timings.get((row["comparison_id"], row.stack_name), {})))]


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
    """Compares the second set with the first."""
    # A case has the same id in every set.
    before, after = (grouped(times.rows, lambda row: row.text("case_id")) for times in (first, second))
    both = [case for case in before if case in after]
    unlike = unlikeness([before[case] for case in both], [after[case] for case in both])
    drift = None
    if first.ceiling and second.ceiling:
        drift = max(first.ceiling / second.ceiling, second.ceiling / first.ceiling)
    # Times of processes that were sampled alone can't be compared with those of processes that took turns.
    comparable = [] if LIKE["sampling"] in unlike else both
    ratios = estimates(first, second, [before[case][0] for case in comparable])
    changes = [change(first, second, before[case], after[case], ratios.get(case), drift) for case in both]
    if unlike:
        changes = [replace(case, verdict=None, reason="") for case in changes]
    logs = [math.log(case.ratio.value) for case in changes if case.ratio]
    alone = [
        f"{rows[0].text('case_name')}: only in {times.name}"
        for times, by_id, by_id_of_other in ((first, before, after), (second, after, before))
        for case, rows in by_id.items()
        if case not in by_id_of_other
    ]
    return SetPair(
        first=first.name,
        second=second.name,
        changes=tuple(sorted(changes, key=lambda case: (case.name, case.stack))),
        shift=math.exp(median(logs)) if logs else None,
        drift=drift,
        unlike=tuple(unlike),
        alone=tuple(alone),
        versions=tuple(changed_versions(first.rows, second.rows)),
        observed=between(first.observed, second.observed),
    )


def change(
    first: Times,
    second: Times,
    before: Sequence[Row],
    after: Sequence[Row],
    ratio: Estimate | None,
    drift: float | None,
) -> CaseChange:
    """Compares one case, with its rows in both sets."""
    row = before[0]
    noise = {
        f"equal processes of {times.name} differ as much": floor
        for times in (first, second)
        if (floor := times.floors.get(row["comparison_id"]))
    }
    if drift:
        noise["the machine's own speed differs as much"] = Estimate(1.0, 1 / drift, drift)
    word, reason = judge(ratio, first.pairing.protocol.tie_ratio, noise) if ratio else (None, "")
    return CaseChange(
        row.comparison_name,
        row.stack_name,
        (gravest(row.outcome for row in before), gravest(row.outcome for row in after)),
        (middle(first, row), middle(second, row)),
        ratio,
        word,
        reason,
    )


def unlikeness(first: Iterable[Sequence[Row]], second: Iterable[Sequence[Row]]) -> list[str]:
    """Returns, in words, the `LIKE` columns in which the cases of two sets differ; an unknown value isn't a
    difference."""
    sides = [[row for rows in side for row in rows] for side in (first, second)]
    values = {name: [{row[name] for row in rows} - {None} for rows in sides] for name in LIKE}
    return [LIKE[name] for name, (before, after) in values.items() if before and after and before != after]


def changed_versions(first: Iterable[Row], second: Iterable[Row]) -> list[str]:
    """Returns the packages whose versions differ between the sets, with their environments."""
    before, after = (
        {
            (row.text("environment"), name): str(version)
            for row in rows
            for name, version in row.mapping("versions").items()
        }
        for rows in (first, second)
    )
    by_change: dict[str, list[str]] = {}
    for (environment, name), version in sorted(before.items()):
        new_version = after.get((environment, name), version)
        if new_version != version:
            by_change.setdefault(f"{name} {version} → {new_version}", []).append(environment)
    return [f"{change} ({', '.join(environments)})" for change, environments in sorted(by_change.items())]


def estimates(first: Times, second: Times, cases: Iterable[Row]) -> dict[str, Estimate]:
    """Returns {case_id: ratio} of the cases with times in both sets, estimated as one family; a ratio has no interval
    if either set has fewer than two processes. `cases` has one row of each case."""
    confidence = first.pairing.protocol.confidence
    logs = {row["case_id"]: (first.logs(row), second.logs(row)) for row in cases}
    means = {
        case: Estimate(math.exp(fmean(before) - fmean(after)))
        for case, (before, after) in logs.items()
        if before and after
    }
    samples = {
        case: unpaired(case, *logs[case], first.pairing.protocol) for case in means if min(map(len, logs[case])) > 1
    }
    ratios = simultaneous(Pool.of(samples.values()), range(len(samples)), confidence)
    return means | {case: cut(ratio, confidence) for case, ratio in zip(samples, ratios, strict=True)}


def unpaired(case: str, first: Sequence[float], second: Sequence[float], protocol: Protocol) -> Sample:
    """Returns the difference of two means of log times, with its variance and Welch's degrees of freedom (1947). The
    sample's number of blocks is that of a paired ratio with the same degrees of freedom."""
    parts = [spread(logs) ** 2 / len(logs) for logs in (first, second)]
    freedoms = [freedom(len(logs), protocol) for logs in (first, second)]
    denominator = sum(part**2 / free for part, free in zip(parts, freedoms, strict=True))
    free = max(1, math.floor(sum(parts) ** 2 / denominator)) if denominator else sum(freedoms)
    return Sample(case, fmean(first) - fmean(second), sum(parts) * (free + 1), free + 1, free, 1)


def middle(times: Times, row: Row) -> float | None:
    """Returns the geometric mean of a case's medians, in seconds; None without times."""
    logs = times.logs(row)
    return math.exp(fmean(logs)) if logs else None
