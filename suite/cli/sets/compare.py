"""`./stackwars compare`: compares sets; or, with --by, cases of one set that differ in one field, such as precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from suite import results
from suite.archive.naming import named
from suite.cli.options.sets import CompareOptions
from suite.cli.terminal.output import check_form, write_export, write_file
from suite.errors import COMMAND, UserError, unknown
from suite.report.between_sets import Compared, compared_field, compared_sets, export_field, export_sets
from suite.report.formats.compare_page import FILE_NAME, compare_page
from suite.report.tables import Export
from suite.results import Results
from suite.results.between_sets import SetPair, Times, compare_sets
from suite.results.questions.behaviour import by_variant
from suite.results.store.files import sha256
from suite.results.store.manifest import RESULTS
from suite.results.within_set import FIELDS, FieldComparison, compare_field

REGRESSION = 5  # exit code
FORMATS = ("text", "html", "md", "csv", "json")


@dataclass(frozen=True, slots=True)
class SetComparison:
    """What the command compares: in `pairs`, the first set with each of the others; or, within one set, the values of a
    field in `within_set` with one of these values, `base`."""

    sets: Sequence[Results]
    threshold: float
    pairs: Sequence[SetPair] = ()
    within_set: FieldComparison | None = None
    base: str = ""
    title: str | None = None

    @property
    def tie(self) -> float:
        """Returns the ratio below which a difference is a tie."""
        return self.sets[0].protocol.tie_ratio

    @property
    def export(self) -> Export:
        """Returns the comparison as tables, and as data for programs."""
        if self.within_set:
            return export_field(self.within_set, self.base, self.sets[0].path.name, self.tie)
        return export_sets(self.pairs, self.threshold, self.tie)

    @property
    def page(self) -> str:
        """Returns the comparison as an HTML page."""
        compared: list[Compared] = (
            [compared_field(self.within_set, self.base, self.tie)]
            if self.within_set
            else compared_sets(self.pairs, self.threshold, self.tie)
        )
        return compare_page(compared, self.sets, self.title)


def compare(options: CompareOptions) -> int:
    """Compares sets. Returns the exit code: 5 if a case is slower by more than --threshold, or no longer `ok`."""
    form, threshold = options.format, options.threshold
    check_form(form, FORMATS, options.out)
    if not 1 <= threshold < math.inf:
        raise UserError(f"--threshold={threshold:g} isn't understood: it is a ratio of times, 1 or more, like 1.05.")
    comparison = within_one(options) if options.by is not None else between(options)
    if len(comparison.sets) > 1 and len({sha256(loaded.path / RESULTS) for loaded in comparison.sets}) == 1:
        print(f"Nothing changed: both are the set {comparison.sets[0].set_id}.")
        return 0
    comparison = replace(comparison, title=options.title)
    if form == "html":
        write_file(comparison.page, Path(options.out or FILE_NAME))
    else:
        write_export(comparison.export, form, options.out)
    return REGRESSION if any(not pair.unlike and pair.regressions(threshold) for pair in comparison.pairs) else 0


def between(options: CompareOptions) -> SetComparison:
    """Compares two or more sets. Raises UserError for sets that can't be compared."""
    if len(options.set) < 2:
        raise UserError(
            f"Two sets are needed, like `{COMMAND} compare BEFORE AFTER`; or one set and a field, like --by=track."
        )
    loaded = [load(named(name)) for name in options.set]
    times = [times_of(results_) for results_ in loaded]
    pairs = [compare_sets(times[0], other) for other in times[1:]]
    for pair in pairs:
        refuse_unlike(pair, options.across)
    return SetComparison(loaded, options.threshold, pairs)


def within_one(options: CompareOptions) -> SetComparison:
    """Compares the values of a field within one set. Raises UserError if no question has two values of the field."""
    field, baseline = options.by, options.baseline
    if len(options.set) != 1:
        raise UserError(f"--by compares within one set: `{COMMAND} compare SET --by=track`.")
    if field not in FIELDS:
        raise unknown("value", str(field), FIELDS, of="--by")
    loaded = results.load(named(options.set[0]))
    comparison = compare_field(loaded.rows, field, loaded.protocol)
    if comparison is None and field == "variant" and (pairs := variant_pairs(times_of(loaded))):
        return SetComparison([loaded], options.threshold, pairs)
    if comparison is None:
        raise UserError(f"No case of this set ran with two values of {field}: there is nothing to compare.")
    if baseline is not None and baseline not in comparison.values:
        raise unknown(field, baseline, comparison.values)
    return SetComparison([loaded], options.threshold, within_set=comparison, base=baseline or comparison.base)


def variant_pairs(times: Times) -> list[SetPair]:
    """Returns a pair for each variant in a set of probes: its behaviour, and that of the stacks without a variant."""
    return [
        SetPair(f"{times.name} as locked", f"@{variant}", (), None, None, (), (), observed=observed)
        for variant, observed in by_variant(times.observed).items()
    ]


def load(path: Path) -> Results:
    """Returns the set in a folder. Raises UserError for a bare Parquet file, which has no protocol."""
    loaded = results.load(path)
    if loaded.plan is None:
        raise UserError(f"There is no plan beside {path}: give the set's folder.")
    return loaded


def times_of(loaded: Results) -> Times:
    """Returns what a comparison needs of a loaded set: its rows, protocol and ceilings."""
    assert loaded.plan is not None
    return Times.of(loaded.plan.set_id, loaded.rows, loaded.plan.protocol, loaded.ceilings)


def refuse_unlike(pair: SetPair, across: bool) -> None:
    """Raises UserError for two sets that have no case in common. Without `--across` also for two sets that differ in
    something that decides their times, such as the machine."""
    if not pair.changes and not pair.observed.common:
        raise UserError(f"{pair.first} and {pair.second} have no case in common, timed or observed.")
    if pair.unlike and not across:
        raise UserError(
            f"{pair.first} and {pair.second} differ in: {', '.join(pair.unlike)}. Their times can't be compared. "
            f"`{COMMAND} compare --across` shows them side by side, without a verdict."
        )
