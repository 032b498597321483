"""`./stackwars compare`: compares sets; or, with --by, cases of one set that differ in one field, such as precision."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from suite import results
from suite.cli.measure.reproduce import DIFFERS, print_claims
from suite.cli.sets.naming import named
from suite.cli.terminal.output import check_form, write_export, write_file
from suite.cli.values import Several
from suite.errors import COMMAND, UserError, check_known
from suite.page.between_sets import compared_field, compared_revisions, compared_sets, exported
from suite.page.formats.compare_page import FILE_NAME, compare_page
from suite.results import Results
from suite.results.between_sets import SetPair, Times, compare_sets
from suite.results.changes import changes
from suite.results.questions.behaviour import by_variant
from suite.results.reproduction import NOT_RUN, ClaimResult, Reproduction, reproduction
from suite.results.within_set import FIELDS, FieldComparison, compare_field
from suite.sets.comparability import FACTS
from suite.sets.files import sha256
from suite.sets.manifest import RESULTS

REGRESSION = 5  # exit code
FORMATS = ("text", "html", "md", "csv", "json")


def compare(
    set: Several = (),
    *,
    by: str | None = None,
    baseline: str | None = None,
    across: bool = False,
    threshold: float = 1.05,
    format: str = "text",
    title: str | None = None,
    out: str | None = None,
) -> int:
    """Compares sets. Returns the exit code: 5 if a case is slower by more than --threshold, or no longer `ok`. Of two
    sets of two machines, it says which of the first set's speedups the second confirms.

    :param set: the result sets: `./stackwars compare BEFORE AFTER`
    :param by: compare within one set, by this field: cache, track, precision, pass, threads or variant
    :param baseline: with --by: the value that the others are compared with
    :param across: show sets of unlike machines, targets or precisions side by side; no verdict says faster or slower
    :param threshold: a ratio of times: the exit code is 5 if a case is slower by more than this
    :param format: text, html, md, csv or json
    :param title: the title of the page, like `JAX 0.12 against 0.10` (default: the sets' names)
    :param out: the file to write (default for html: compare.html in this folder; other formats go to standard output)
    """
    check_form(format, FORMATS, out)
    if not 1 <= threshold < math.inf:
        raise UserError(f"--threshold={threshold:g} isn't understood: it is a ratio of times, 1 or more, like 1.05.")
    if by is None and len(set) < 2:
        raise UserError(
            f"Two sets are needed, like `{COMMAND} compare BEFORE AFTER`; or one set and a field, like --by=track."
        )
    if by is not None and len(set) != 1:
        raise UserError(f"--by compares within one set: `{COMMAND} compare SET --by=track`.")
    sets = [results.load(named(name)) for name in set]
    if by is None and len(sets) == 2 and format == "text" and not across and (confirmed := by_speedups(*sets)):
        print_claims(confirmed, sets[0].path, sets[1].path)
        return DIFFERS if confirmed.result in (ClaimResult.SHIFTED, ClaimResult.CONTRADICTED) else 0
    tie = sets[0].protocol.tie_ratio
    whole = sets[0].analysis() if by == "variant" and baseline is None else None
    found = changes(sets[0].plan_file, whole, threshold) if whole else []
    within = within_one(sets[0], by, baseline) if by is not None and not found else None
    pairs = [] if within or found else variant_pairs(times_of(sets[0])) if by else between(sets, across=across)
    if format == "text" and len(sets) > 1 and len({sha256(loaded.path / RESULTS) for loaded in sets}) == 1:
        print(f"Nothing changed: both are the set {sets[0].set_id}.")
        return 0
    compared = compared_sets(pairs, threshold, tie)
    if within:
        compared = [compared_field(*within, sets[0].path.name, tie)]
    elif whole and found:
        compared = [compared_revisions(whole, found, sets[0].path.name, tie)]
    if format == "html":
        write_file(compare_page(compared, sets, title), out or FILE_NAME)
    else:
        write_export(exported(compared), format, out)
    worse = any(not pair.unlike and pair.regressions(threshold) for pair in pairs)
    return REGRESSION if worse or any(change.is_worse for change in found) else 0


def by_speedups(first: Results, second: Results) -> Reproduction | None:
    """Compares the speedups of two sets that differ in nothing but their machines, on the cases that both have. None
    for other sets, and without such a case or speedup."""
    pair = compare_sets(times_of(first), times_of(second))
    if not pair.is_of_two_machines or not any(change.ratio for change in pair.changes):
        return None
    found = reproduction(first, second)
    claims = tuple(claim for claim in found.claims if claim.outcomes[1] != NOT_RUN)
    return replace(found, claims=claims) if claims else None


def between(sets: Sequence[Results], *, across: bool) -> list[SetPair]:
    """Compares the first set with each of the others. Raises UserError for sets that can't be compared."""
    first, *others = map(times_of, sets)
    pairs = [compare_sets(first, other) for other in others]
    for pair in pairs:
        refuse_unlike(pair, across)
    return pairs


def within_one(loaded: Results, field: str, baseline: str | None) -> tuple[FieldComparison, str] | None:
    """Returns the values of a field within one set, and that with which the others are compared; None for variants of
    stacks that were only observed. Raises UserError if no question has two values of the field."""
    check_known("value", field, FIELDS, of="--by")
    comparison = compare_field(loaded.rows, field, loaded.protocol)
    if comparison is None:
        if field == "variant" and by_variant(times_of(loaded).observed):
            return None
        raise UserError(f"No case of this set ran with two values of {field}: there is nothing to compare.")
    if baseline is not None:
        check_known(field, baseline, comparison.values)
    return comparison, baseline or comparison.base


def variant_pairs(times: Times) -> list[SetPair]:
    """Returns a pair for each variant in a set of probes: its behaviour, and that of the stacks without a variant."""
    return [
        SetPair(f"{times.name} as locked", f"@{variant}", (), None, None, (), (), observed=observed)
        for variant, observed in by_variant(times.observed).items()
    ]


def times_of(loaded: Results) -> Times:
    """Raises UserError for a bare Parquet file, which has no protocol."""
    if loaded.plan is None:
        raise UserError(f"There is no plan beside {loaded.path}: give the set's folder.")
    code = loaded.plan_file.code if loaded.plan_file else {}
    return Times.of(loaded.plan.set_id, loaded.rows, loaded.plan.protocol, loaded.ceilings, loaded.machine, code)


def refuse_unlike(pair: SetPair, across: bool) -> None:
    """Raises UserError for two sets that have no case in common. Without `--across` also for two sets that differ in
    something that decides their times, such as the machine."""
    if not pair.changes and not pair.observed.common:
        raise UserError(
            f"{pair.first} and {pair.second} have no case in common, timed or observed: some of question, sizes, pass, "
            "precision, stack, target and number of cores differs in each."
        )
    if pair.unlike and not across:
        texts: dict[str, str] = {}
        for each in pair.differences:  # of several cases with other values only the fact's name is true of all
            texts[each.words] = each.words if each.words in texts else each.text.removesuffix(" changed")
        remedy = (
            f" `{COMMAND} run --machine=NAME` gives a machine without a lasting id, such as a container, a name."
            if pair.unlike == (FACTS["machine_id"].words,)
            else ""
        )
        raise UserError(
            f"{pair.first} and {pair.second} differ in: {', '.join(texts[words] for words in pair.unlike)}. Their "
            f"times can't be compared.{remedy} `{COMMAND} compare --across` shows them side by side, without a verdict."
        )
