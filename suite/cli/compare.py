"""`./stackwars compare`: sets held against each other, or the two ways in which one set has asked the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from suite import results
from suite.archive.naming import named
from suite.cli.output import check_form, put, told_form
from suite.errors import COMMAND, UserError, unknown
from suite.report.between_sets import Compared, of_sets, of_ways, told_sets, told_ways
from suite.report.formats.compare_page import FILE_NAME, compare_page
from suite.report.formats.tables import Told
from suite.results import Results
from suite.results.between_sets import Across, Times, across
from suite.results.questions.behaviour import by_variant
from suite.results.within_set import FIELDS, Ways, within

REGRESSION = 5  # exit code
FORMATS = ("text", "html", "md", "csv", "json")


@dataclass(frozen=True, slots=True)
class Asked:
    """What is held against what: every further set against the first, or one set's ways over one of them."""

    sets: Sequence[Results]
    threshold: float
    found: Sequence[Across] = ()
    ways: Ways | None = None
    base: str = ""

    @property
    def tie(self) -> float:
        """Ratios nearer to 1 are a tie."""
        return self.sets[0].protocol.tie_ratio

    @property
    def told(self) -> Told:
        """For tables and programs."""
        if self.ways:
            return told_ways(self.ways, self.base, self.sets[0].path.name, self.tie)
        return told_sets(self.found, self.threshold, self.tie)

    @property
    def page(self) -> str:
        """As HTML."""
        compared: list[Compared] = (
            [of_ways(self.ways, self.base, self.tie)] if self.ways else of_sets(self.found, self.threshold, self.tie)
        )
        return compare_page(compared, self.sets)


def compare(
    sets: Sequence[str],
    *,
    by: str | None,
    baseline: str | None,
    across_unlike: bool,
    threshold: str,
    form: str,
    out: str | None,
) -> int:
    """Tell it; 5 if something is slower by more than `threshold`, or no longer `ok`."""
    check_form(form, FORMATS, out)
    limit = threshold_of(threshold)
    asked = within_one(sets, by, baseline, limit) if by is not None else between(sets, across_unlike, limit)
    if form == "html":
        put(asked.page, Path(out or FILE_NAME))
    else:
        told_form(asked.told, form, out)
    return REGRESSION if any(not each.unlike and each.regressions(limit) for each in asked.found) else 0


def between(sets: Sequence[str], across_unlike: bool, threshold: float) -> Asked:
    """Two sets or more. Raises UserError for sets that don't compare."""
    if len(sets) < 2:
        raise UserError(
            f"Two sets are needed, like `{COMMAND} compare BEFORE AFTER`, or one and --by, like --by=track."
        )
    loaded = [load(named(name)) for name in sets]
    times = [times_of(each) for each in loaded]
    found = [across(times[0], each) for each in times[1:]]
    for each in found:
        refuse_unlike(each, across_unlike)
    return Asked(loaded, threshold, found)


def within_one(sets: Sequence[str], field: str, baseline: str | None, threshold: float) -> Asked:
    """One set, in two ways or more. Raises UserError for a field that it asked in one."""
    if len(sets) != 1:
        raise UserError(f"--by compares within one set: `{COMMAND} compare SET --by=track`.")
    if field not in FIELDS:
        raise unknown("field to compare by", field, FIELDS)
    loaded = results.load(named(sets[0]))
    ways = within(loaded.rows, field, loaded.protocol)
    if ways is None and field == "variant" and (found := versions_of(times_of(loaded))):
        return Asked([loaded], threshold, found)
    if ways is None:
        raise UserError(f"Nothing in this set was asked with two kinds of {field}: there is nothing to compare.")
    if baseline is not None and baseline not in ways.values:
        raise unknown(field, baseline, ways.values)
    return Asked([loaded], threshold, ways=ways, base=baseline or ways.base)


def versions_of(times: Times) -> list[Across]:
    """What the probes of one set have observed in variants, against the stacks as they are locked."""
    return [
        Across(f"{times.name} as locked", f"@{variant}", (), None, None, (), (), observed=observed)
        for variant, observed in by_variant(times.observed).items()
    ]


def load(path: Path) -> Results:
    """A set by its folder. Raises UserError for a bare Parquet file, which has no protocol."""
    loaded = results.load(path)
    if loaded.plan is None:
        raise UserError(f"{path} has no plan beside it: give the set's folder.")
    return loaded


def times_of(loaded: Results) -> Times:
    """What it says of time."""
    assert loaded.plan is not None
    return Times.of(loaded.plan.set_id, loaded.rows, loaded.plan, loaded.ceilings)


def threshold_of(text: str) -> float:
    """A ratio. Raises UserError for what is none."""
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not 1 <= value < math.inf:
        raise UserError(f"--threshold={text} isn't understood: it is a ratio of times from 1 on, like 1.05.")
    return value


def refuse_unlike(found: Across, across_unlike: bool) -> None:
    """Raises UserError for sets that have nothing in common, or that differ in what decides their times."""
    if not found.changes and not found.observed.common:
        raise UserError(f"{found.first} and {found.second} have no case in common, timed or observed.")
    if found.unlike and not across_unlike:
        raise UserError(
            f"{found.first} and {found.second} differ in: {', '.join(found.unlike)}. Their times say "
            f"nothing of each other. `{COMMAND} compare --across` shows them side by side, and calls none "
            "faster."
        )
