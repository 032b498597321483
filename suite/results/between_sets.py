"""One set held against another: what runs in common no block, so nothing is paired. Pure functions.

A case's processes in two sets are two samples. Their spread, each set's own, says how far two runs of equal programs
lie apart; what equal processes of one set were seen to differ by (A/A), and how far the machine itself has moved
between the runs, must be exceeded as well.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from statistics import fmean, median

from suite.case import Outcome
from suite.protocol import Protocol
from suite.results.questions.behaviour import CellKey, Observed, behaviours, between, classes
from suite.results.speedup.family import Sample, cut, simultaneous
from suite.results.speedup.pairing import all_seconds
from suite.results.speedup.verdicts import Pairing, freedom
from suite.results.store.plan_file import PlanFile
from suite.results.store.rows import Row, counting, judged
from suite.stats import Estimate, Word, spread, verdict

# What mustn't differ between sets for their times to be held against each other, in words.
LIKE = {
    "machine_id": "machine",
    "target": "target",
    "device": "device",
    "precision": "precision",
    "threads": "cores",
    "allocator": "allocator",
    "limit_memory_bytes": "memory limit",
}


@dataclass(frozen=True, slots=True)
class Times:
    """What a set says of time: its name, the processes that count, what each case ended as, and the f32 ceiling;
    and the classes that its probes have observed."""

    name: str
    pairing: Pairing
    rows: tuple[Row, ...]
    floors: Mapping[str, Estimate]  # by question, what equal processes differ by
    ceiling: float | None  # FLOP/s, at the run's begin
    observed: Mapping[CellKey, str]

    @classmethod
    def of(cls, name: str, rows: Iterable[Row], plan: PlanFile, ceilings: Sequence[Mapping[str, float]]) -> Times:
        """Of a loaded set."""
        rows = list(rows)
        kept = tuple(counting(rows))
        pairing = Pairing.of(kept, plan.protocol)
        reached = [each["flops_per_second"] for each in ceilings if each.get("flops_per_second")]
        floors = {twin.comparison_id: twin.ratio for twin in pairing.twins()}
        observed = classes(behaviours(judged(rows)))
        return cls(name, pairing, kept, floors, reached[0] if reached else None, observed)

    def logs(self, row: Row) -> list[float]:
        """The logarithms of the medians of all processes of a row's case."""
        return [*map(math.log, all_seconds(self.pairing.timings.get((row["comparison_id"], row.stack_name), {})))]


@dataclass(frozen=True, slots=True)
class Change:
    """A case in two sets. `ratio` is the first's time over the second's: above 1, the second is faster; None without
    times in both. `outcomes` and `seconds` are those of each. `reason`: why it isn't the interval's verdict."""

    name: str
    stack: str
    outcomes: tuple[str, str]
    seconds: tuple[float | None, float | None]
    ratio: Estimate | None
    verdict: Word | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Across:
    """All cases of two sets. `shift`: the middle of their ratios; `drift`: how far the machine's f32 ceiling has moved,
    as a ratio from 1 on; `unlike`: what differs so that nothing may be called faster; `alone`: what only one has;
    `versions`: which differ, `jax 0.10.1 → 0.10.2 (jax)`; `observed`: what their probes have seen in both."""

    first: str
    second: str
    changes: tuple[Change, ...]
    shift: float | None
    drift: float | None
    unlike: tuple[str, ...]
    alone: tuple[str, ...]
    versions: tuple[str, ...] = ()
    observed: Observed = field(default=Observed(0, ()))

    def regressions(self, threshold: float) -> tuple[Change, ...]:
        """Those that are slower in the second set by more than a ratio, and those that no longer end `ok`."""
        return tuple(
            each
            for each in self.changes
            if each.outcomes[0] == Outcome.OK != each.outcomes[1]
            or (each.verdict == "slower" and each.ratio and 1 / each.ratio.value > threshold)
        )


def across(first: Times, second: Times) -> Across:
    """The second set held against the first."""
    before, after = by_case(first.rows), by_case(second.rows)
    both = [case for case in before if case in after]
    unlike = unlikeness([before[case] for case in both], [after[case] for case in both])
    drift = None
    if first.ceiling and second.ceiling:
        drift = max(first.ceiling / second.ceiling, second.ceiling / first.ceiling)
    ratios = estimates(first, second, [before[case][0] for case in both])
    changes = [change(first, second, before[case], after[case], ratios.get(case), drift) for case in both]
    if unlike:
        changes = [replace(each, verdict=None, reason="") for each in changes]
    known = [math.log(each.ratio.value) for each in changes if each.ratio]
    alone = [
        f"{rows[0].text('case_name')}: in {times.name} alone"
        for times, mine, others in ((first, before, after), (second, after, before))
        for case, rows in mine.items()
        if case not in others
    ]
    return Across(
        first=first.name,
        second=second.name,
        changes=tuple(sorted(changes, key=lambda each: (each.name, each.stack))),
        shift=math.exp(median(known)) if known else None,
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
) -> Change:
    """One case."""
    row, tie = before[0], first.pairing.protocol.tie_ratio
    floors = [floor for times in (first, second) if (floor := times.floors.get(row["comparison_id"]))]
    floors += [Estimate(1.0, 1 / drift, drift)] if drift else []
    word: Word | None = verdict(ratio, tie) if ratio else None
    reason = ""
    if ratio and word in ("faster", "slower") and any(verdict(ratio, tie, floor) != word for floor in floors):
        word, reason = "undecided", "equal processes, or the machine itself, differ as much"
    return Change(
        row.comparison_name,
        row.stack_name,
        (outcome(before), outcome(after)),
        (middle(first, row), middle(second, row)),
        ratio,
        word,
        reason,
    )


def by_case(rows: Iterable[Row]) -> dict[str, list[Row]]:
    """Rows by case_id: the same question in both sets, by its whole identity."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["case_id"], []).append(row)
    return found


def unlikeness(first: Iterable[Sequence[Row]], second: Iterable[Sequence[Row]]) -> list[str]:
    """In which of `LIKE` the cases of two sets differ."""
    mine, others = ([row for rows in side for row in rows] for side in (first, second))
    told = {name: [{row[name] for row in rows} - {None} for rows in (mine, others)] for name in LIKE}
    return [LIKE[name] for name, (one, other) in told.items() if one and other and one != other]


def changed_versions(first: Iterable[Row], second: Iterable[Row]) -> list[str]:
    """Versions that an environment has in both sets and that differ, with the environments."""
    before, after = (
        {
            (row.text("environment"), name): str(version)
            for row in rows
            for name, version in row.mapping("versions").items()
        }
        for rows in (first, second)
    )
    found: dict[str, list[str]] = {}
    for (environment, name), version in sorted(before.items()):
        now = after.get((environment, name), version)
        if now != version:
            found.setdefault(f"{name} {version} → {now}", []).append(environment)
    return [f"{change} ({', '.join(places)})" for change, places in sorted(found.items())]


def estimates(first: Times, second: Times, asked: Iterable[Row]) -> dict[str, Estimate]:
    """The ratios of all cases that both have times of, by case_id, as one family; without an interval where either has
    fewer than two processes."""
    confidence = first.pairing.protocol.confidence
    logs = {row["case_id"]: (first.logs(row), second.logs(row)) for row in asked}
    found = {
        case: Estimate(math.exp(fmean(mine) - fmean(others)))
        for case, (mine, others) in logs.items()
        if mine and others
    }
    samples = {
        case: unpaired(case, *logs[case], first.pairing.protocol) for case in found if min(map(len, logs[case])) > 1
    }
    ratios = simultaneous([*samples.values()], range(len(samples)), confidence)
    return found | {case: cut(ratio, confidence) for case, ratio in zip(samples, ratios, strict=True)}


def unpaired(case: str, first: Sequence[float], second: Sequence[float], protocol: Protocol) -> Sample:
    """The difference of two means of log times, with the variance that both sides' processes give it; degrees of
    freedom are Welch's (1947), and it counts as the blocks that have them."""
    parts = [spread(each) ** 2 / len(each) for each in (first, second)]
    own = [freedom(len(each), protocol) for each in (first, second)]
    doubt = sum(part**2 / free for part, free in zip(parts, own, strict=True))
    free = max(1, math.floor(sum(parts) ** 2 / doubt)) if doubt else sum(own)
    return Sample(case, fmean(first) - fmean(second), sum(parts) * (free + 1), free + 1, free, 1)


def middle(times: Times, row: Row) -> float | None:
    """The geometric mean of a case's medians, in seconds."""
    logs = times.logs(row)
    return math.exp(fmean(logs)) if logs else None


def outcome(rows: Sequence[Row]) -> str:
    """The worst that a case's processes ended as; `ok` if all did."""
    return next((row.outcome for row in rows if row.outcome != Outcome.OK), str(Outcome.OK))
