"""One case over all sets that have it: how long a step took, from which versions, and where that changed."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from statistics import fmean, median

import pyarrow.compute as pc
from scipy import special  # the same Student's t as in scipy.stats, which takes half a second to import

from suite.archive.listing import Listed, here, of_place, rows_of
from suite.archive.place import AT_ONCE, Place
from suite.case import Outcome, Purpose
from suite.errors import UserError
from suite.machine.description import processor
from suite.protocol import Protocol
from suite.results.store.rows import CASE, Row, judged
from suite.stats import NORMAL_CONSISTENT, spread

LEAST_STEPS = 3  # from set to set, that say how much sets differ
MEDIAN_FREEDOM = 0.37  # of a median of absolute deviations over a mean of squares, for normal values
COLUMNS = frozenset(
    {
        *CASE,
        "schema_version",
        "case_id",
        "case_name",
        "comparison_id",
        "block",
        "replicate",
        "purpose",
        "retry",
        "outcome",
        "flags",
        "machine_id",
        "versions",
        "inferred_from",
        "synced_seconds",
        "synced_warmup",
        "synced_others",
    }
)


@dataclass(frozen=True)
class Point:
    """One case in one set: the logarithms of its processes' medians, and where they came from.

    `ratio`: where this is a change, the time before over the time since, above 1 where it became faster.
    """

    set_name: str
    created_at: str
    machine_id: str
    machine: str
    case_id: str
    question: str
    stack: str
    versions: str
    logs: tuple[float, ...]
    ratio: float | None = None

    @cached_property
    def mean(self) -> float:
        """Of the logarithms."""
        return fmean(self.logs)

    @property
    def seconds(self) -> float:
        """The geometric mean of the processes' medians."""
        return math.exp(self.mean)

    @cached_property
    def variance(self) -> float | None:
        """Of the mean of the logarithms, by the set's own processes; None for one alone."""
        return spread(self.logs) ** 2 / len(self.logs) if len(self.logs) > 1 else None

    @property
    def interval(self) -> tuple[float, float] | None:
        """Student's t over the processes; None for one alone."""
        if self.variance is None:
            return None
        half = float(special.stdtrit(len(self.logs) - 1, 0.5 + Protocol().confidence / 2)) * math.sqrt(self.variance)
        return self.seconds * math.exp(-half), self.seconds * math.exp(half)


def history(
    results: Path,
    place: Place | None,
    workload: str,
    stack: str,
    say: Callable[[str], None],
    passes: Collection[str] = (),
) -> list[Point]:
    """Of all whole sets here, or of a place: series by series (case and machine), oldest first, with the changes.

    `workload` and `stack` are globs, no `passes` are both; `say` is told which sets can't be read. Raises UserError
    where no set has such a case.
    """
    found = of_place(place) if place else here(results)
    whole = each_run([each for each in found if not each.trouble])
    points: list[Point] = []
    # Of a place, its answers are waited for; here, decoding is all there is, and threads would only wait in turn.
    with ThreadPoolExecutor(AT_ONCE if place else 1) as pool:
        parts = [(each, pool.submit(of_set, each, place, workload, stack, passes)) for each in whole]
    for each, part in parts:
        try:
            points += part.result()
        except UserError as refused:  # one that can't be read doesn't hide the others
            say(f"{each.name or each.where} is left out: {refused}")
    if not points:
        asked = [f"--workload={workload}", f"--stack={stack}", *(f"--pass={each}" for each in passes)]
        raise UserError(
            f"None of {len(whole)} whole sets in {place.uri if place else results} has times of {' '.join(asked)}."
        )
    series: dict[tuple[str, ...], list[Point]] = defaultdict(list)
    for point in sorted(points, key=lambda each: (each.created_at, each.set_name)):
        series[point.question, point.stack, point.machine_id, point.case_id].append(point)
    return [point for key in sorted(series) for point in changes(series[key])]


def each_run(listed: Iterable[Listed]) -> list[Listed]:
    """Each run once, also where it lies in two folders, as after a fetch, or was archived again when more of it was
    done: then as it has most that is `ok`."""
    most = sorted(listed, key=lambda each: int((each.facts.get("outcomes") or {}).get(Outcome.OK, 0)))
    return [*{each.facts.get("set_id") or each.where: each for each in most}.values()]


def of_set(listed: Listed, place: Place | None, workload: str, stack: str, passes: Collection[str]) -> list[Point]:
    """The cases of one set."""
    timed = pc.field("purpose") == str(Purpose.TIMED)
    having = timed
    for name, glob in (("workload", workload), ("stack", stack)):
        if not set(glob) & set("*?[@"):
            having &= pc.field(name) == glob
    if passes:
        having &= pc.field("pass").isin([*passes])
    by_case: dict[str, list[Row]] = defaultdict(list)
    for row in judged(rows_of(listed, place, COLUMNS, having)):
        wanted = fnmatchcase(row.text("workload"), workload) and fnmatchcase(row.stack_name, stack)
        if wanted and row.outcome == Outcome.OK and row.median():
            by_case[row["case_id"]].append(row)
    return [point(listed, of_case) for of_case in by_case.values()]


def point(listed: Listed, rows: Sequence[Row]) -> Point:
    """A case's processes."""
    row = rows[0]
    told = row.mapping("versions")
    framework = told.keys() - {"python", "numpy"}  # all of which need a numpy, too
    shown = [name for name in sorted(told) if name != "numpy" or not framework]
    return Point(
        set_name=listed.name or str(listed.facts.get("set_id")),
        created_at=listed.created_at,
        machine_id=row.text("machine_id"),
        machine=processor(listed.facts.get("machine") or {}),
        case_id=row["case_id"],
        question=row.comparison_name,
        stack=row.stack_name,
        versions=", ".join(f"{name} {told[name]}" for name in shown),
        logs=tuple(math.log(seconds) for each in rows if (seconds := each.median())),
    )


def changes(series: Iterable[Point]) -> list[Point]:
    """A series with its changes: a set that differs from all sets since the last change by more than a further one of
    these would, and by more than a tie.

    What a further one would differ by is Student's prediction interval, at 5 % for the whole series (Bonferroni).
    """
    points = [*series]
    noise = between(points)
    doubt = (1 - Protocol().confidence) / max(len(points) - 1, 1)
    found, since = points[:1], points[:1]
    for each in points[1:]:
        step = fmean(other.mean for other in since) - each.mean
        if abs(step) > max(reach(since, each, noise, doubt), math.log(Protocol().tie_ratio)):
            found.append(replace(each, ratio=math.exp(step)))
            since = [each]
        else:
            found.append(each)
            since.append(each)
    return found


@dataclass(frozen=True, slots=True)
class Noise:
    """A variance, and the degrees of freedom that it is known with."""

    variance: float
    freedom: int


def between(points: Sequence[Point]) -> Noise | None:
    """How much the sets of a series differ from day to day, by the median step from one to the next, which a few
    changes don't move; None for fewer than four sets."""
    means = [each.mean for each in points]
    steps = [abs(later - earlier) for earlier, later in pairwise(means)]
    if len(steps) < LEAST_STEPS:
        return None
    return Noise((NORMAL_CONSISTENT * median(steps)) ** 2 / 2, max(2, math.floor(MEDIAN_FREEDOM * len(steps))))


def reach(since: Sequence[Point], each: Point, noise: Noise | None, doubt: float) -> float:
    """How far a further set may lie from the mean of some, in logs: by how sets differ, or by how the processes of each
    do, whichever is more. Infinite where nobody knows how sets differ: processes of one day say little of the next."""
    if noise is None:
        return math.inf
    own = [point for point in (*since, each) if point.variance is not None]
    within = Noise(fmean([point.variance or 0.0 for point in own] or [0.0]), sum(len(point.logs) - 1 for point in own))
    worst = max(noise, within, key=lambda one: one.variance)
    return float(special.stdtrit(worst.freedom, 1 - doubt / 2)) * math.sqrt(worst.variance * (1 + 1 / len(since)))
