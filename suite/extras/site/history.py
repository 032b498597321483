"""Collects the step time of a case from every result set that has it, with the versions used, and marks the sets in
which the time changed."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from functools import cached_property
from itertools import chain, groupby, pairwise
from pathlib import Path
from statistics import fmean, median
from typing import Any

from scipy import special  # the same Student's t as in scipy.stats, which takes half a second to import

from suite.case import Outcome, Purpose
from suite.errors import UserError
from suite.extras.archive.listing import rows_of, sets_of
from suite.extras.archive.storage import AT_ONCE, Storage
from suite.machine.description import processor
from suite.order import natural
from suite.protocol import Protocol
from suite.results.case_row import used_processes
from suite.sets.comparability import FACTS, REFUSED, ROW, SAID, SERIES, Facts, case_facts, differences
from suite.sets.listing import Listed
from suite.sets.rows import CASE, SYNCED, Row, counted
from suite.sets.schema import NAMES
from suite.stats import NORMAL_CONSISTENT, spread

# Set-to-set differences needed to estimate how much sets vary; with fewer there is no estimate.
DIFFERENCES_MIN = 3
# For normal values, a median of absolute deviations is 37 % as efficient as a variance, so n differences give 0.37 n
# degrees of freedom.
MEDIAN_FREEDOM = 0.37
COLUMNS = frozenset(
    {
        *(*CASE, *SYNCED, "schema_version", "case_id", "case_name", "comparison_id", "block", "replicate", "purpose"),
        *("retry", "outcome", "flags", "machine_id", "versions", "inferred_from", "dialect"),
        *(name for name, fact in FACTS.items() if fact.source == ROW and name in NAMES),
    }
)
Noise = tuple[float, int]  # a variance, and its degrees of freedom


@dataclass(frozen=True)
class Point:
    """One case in one set: the logarithms of its processes' medians in seconds, and where they were measured.

    `ratio` is the time before a change over the time since, so it is above 1 if the step became faster. None if nothing
    changed. `facts` say what may be joined: only points of one `kind`, the number of a series, are joined by a line;
    `apart` says in words in what this kind differs from the first one, `since` what else differs from the point before.
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
    facts: Facts
    ratio: float | None = None
    kind: int = 0
    apart: str = ""
    since: str = ""

    @property
    def series(self) -> tuple[str, ...]:
        """The case, the machine and the kind: what may be joined by a line."""
        return self.question, self.stack, self.machine_id, self.case_id, str(self.kind)

    @cached_property
    def mean(self) -> float:
        return fmean(self.logs)

    @property
    def seconds(self) -> float:
        return math.exp(self.mean)

    @cached_property
    def variance(self) -> float | None:
        """The variance of `mean`, estimated from this set's processes; None if there is only one process."""
        return spread(self.logs) ** 2 / len(self.logs) if len(self.logs) > 1 else None

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """The confidence interval in seconds, by Student's t over the processes; None if there is only one."""
        if self.variance is None:
            return None
        half = float(special.stdtrit(len(self.logs) - 1, 0.5 + Protocol().confidence / 2)) * math.sqrt(self.variance)
        return self.seconds * math.exp(-half), self.seconds * math.exp(half)


def history(
    results: Path,
    storage: Storage | None,
    workload: str,
    stack: str,
    say: Callable[[str], None],
    passes: Collection[str] = (),
) -> list[Point]:
    """Returns the points of all whole sets in `storage` or, without one, in the folder `results`. They form a series
    for each case and machine, oldest first, with changes marked.

    `workload` and `stack` are globs; without `passes`, all passes count. `say` is called with a line for each set that
    can't be read. Raises UserError if no set has such a case.
    """

    def of_set(listed: Listed) -> list[Point]:
        asked = (row for row in rows_of(listed, storage, COLUMNS) if row["pass"] in passes or not passes)
        named = (row for row in asked if fnmatchcase(row.text("workload"), workload))
        return points_in(listed, (row for row in named if fnmatchcase(row.stack_name, stack)))

    whole = without_copies(entry for entry in sets_of(storage, results) if not entry.trouble)
    points: list[Point] = []
    with ThreadPoolExecutor(AT_ONCE) as pool:  # most of the time a thread waits for a storage or a reading process
        parts = [(entry, pool.submit(of_set, entry)) for entry in whole]
    for entry, part in parts:
        try:
            points += part.result()
        except UserError as refused:  # the other sets are still shown
            say(f"{entry.name or entry.where} is left out: {refused}")
    if not points:
        filters = [f"--workload={workload}", f"--stack={stack}", *(f"--pass={pass_}" for pass_ in passes)]
        where = storage.uri if storage else results
        raise UserError(f"None of {len(whole)} whole sets in {where} has times of {' '.join(filters)}.")
    return marked(points)


def marked(points: Iterable[Point]) -> list[Point]:
    """Returns points as series, one for each case, machine and kind, oldest first, with the changes of each series
    marked."""
    ordered = sorted(points, key=lambda point: (*map(natural, point.series), point.created_at, point.set_name))
    by_case = (kinds(series) for _, series in groupby(ordered, key=lambda point: point.series))
    return [point for series in chain.from_iterable(by_case) for point in changes(series)]


def kinds(points: Iterable[Point]) -> list[list[Point]]:
    """Returns the points of one case on one machine by kind: a point joins the newest series from whose last point it
    differs in nothing that asks for another series."""
    series: list[list[Point]] = []
    for point in points:
        for earlier in sorted(series, key=lambda earlier: earlier[-1].created_at, reverse=True):
            found = differences(earlier[-1].facts, point.facts)
            if not any(each.consequence in (REFUSED, SERIES) for each in found):
                since = ", ".join(each.text for each in found if each.consequence is SAID)
                known = {name: value for name, value in point.facts.items() if value is not None}
                facts = {**earlier[-1].facts, **known}  # an unknown fact doesn't make two others comparable
                earlier.append(replace(point, facts=facts, kind=earlier[0].kind, apart=earlier[0].apart, since=since))
                break
        else:
            found = differences(series[0][0].facts, point.facts) if series else []
            apart = ", ".join(each.text for each in found if each.consequence in (REFUSED, SERIES))
            series.append([replace(point, kind=len(series), apart=apart)])
    return series


def without_copies(listed: Iterable[Listed]) -> list[Listed]:
    """Returns each run once. A run may be listed twice, because a fetch put it in a second folder, or because it was
    published again later. Of such copies, the one with the most `ok` outcomes is kept."""
    by_ok = sorted(listed, key=lambda entry: int((entry.facts.get("outcomes") or {}).get(Outcome.OK, 0)))
    return [*{entry.facts.get("set_id") or entry.where: entry for entry in by_ok}.values()]


def points_in(listed: Listed, rows: Iterable[Row]) -> list[Point]:
    """Returns a point for each case of one set's rows that has times; only timed rows count."""
    by_case: dict[str, list[Row]] = defaultdict(list)
    for row in counted(row for row in rows if row["purpose"] == Purpose.TIMED):
        by_case[row["case_id"]].append(row)
    used = [used_processes(of_case) for of_case in by_case.values()]
    return [point(listed, processes) for processes in used if any(row.outcome == Outcome.OK for row in processes)]


def point(listed: Listed, rows: Sequence[Row]) -> Point:
    row = rows[0]
    return Point(
        set_name=listed.name or str(listed.facts.get("set_id")),
        created_at=listed.created_at,
        machine_id=row.text("machine_id"),
        machine=processor(listed.facts.get("machine") or {}),
        case_id=row["case_id"],
        question=row.comparison_name,
        stack=row.stack_name,
        versions=version_words(row.mapping("versions")),
        facts=case_facts(rows, listed.facts.get("machine") or {}, listed.facts.get("code") or {}),
        logs=tuple(math.log(seconds) for process in rows if (seconds := process.median())),
    )


def version_words(versions: Mapping[str, Any]) -> str:
    """Returns `jax 0.10.2, python 3.12`. Every framework needs NumPy, whose version is shown only without another."""
    has_framework = versions.keys() - {"python", "numpy"}
    return ", ".join(f"{name} {versions[name]}" for name in sorted(versions) if name != "numpy" or not has_framework)


def changes(series: Iterable[Point]) -> list[Point]:
    """Returns a series with its changes marked.

    A set is a change if its distance from the mean of all sets since the last change is larger than a tie, and also
    larger than chance explains. What chance explains is the half-width of Student's prediction interval for one further
    set. Its error probability is 5 % for the whole series, divided among its sets (Bonferroni).
    """
    points = [*series]
    noise = between(points)
    significance = (1 - Protocol().confidence) / max(len(points) - 1, 1)
    marked, since = points[:1], points[:1]
    for point in points[1:]:
        log_change = fmean(earlier.mean for earlier in since) - point.mean
        if abs(log_change) > max(reach(since, point, noise, significance), math.log(Protocol().tie_ratio)):
            marked.append(replace(point, ratio=math.exp(log_change)))
            since = [point]
        else:
            marked.append(point)
            since.append(point)
    return marked


def between(points: Sequence[Point]) -> Noise | None:
    """Returns the variance between the sets of a series; None for fewer than four sets. It is estimated from the median
    difference between consecutive sets, because a few changes hardly affect a median."""
    means = [point.mean for point in points]
    differences = [abs(later - earlier) for earlier, later in pairwise(means)]
    if len(differences) < DIFFERENCES_MIN:
        return None
    freedom = max(2, math.floor(MEDIAN_FREEDOM * len(differences)))
    return (NORMAL_CONSISTENT * median(differences)) ** 2 / 2, freedom


def reach(since: Sequence[Point], following: Point, noise: Noise | None, significance: float) -> float:
    """Returns how far the logarithm of one further set's time may lie from the mean of `since` by chance. It uses the
    larger of two variances: that between sets, and that between the processes of a set. Infinite if the variance
    between sets is unknown, because one day's processes say little about the next day's."""
    if noise is None:
        return math.inf
    several = [point for point in (*since, following) if point.variance is not None]
    variance = fmean([point.variance or 0.0 for point in several] or [0.0])
    within = variance, sum(len(point.logs) - 1 for point in several)
    greatest, freedom = max(noise, within, key=lambda noise: noise[0])
    return float(special.stdtrit(freedom, 1 - significance / 2)) * math.sqrt(greatest * (1 + 1 / len(since)))
