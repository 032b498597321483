"""`./stackwars report`: writes a set, or a comparison of sets, as a page, Markdown, CSV or JSON."""

from __future__ import annotations

from pathlib import Path

from suite import results
from suite.cli.sets.compare import compare as compare_sets
from suite.cli.sets.naming import named
from suite.cli.terminal.output import check_form, write_export
from suite.cli.values import LATEST, Names, Several
from suite.errors import UserError
from suite.guard.out import is_standard
from suite.page.formats.export import export
from suite.page.formats.render import FILE_NAME, render

FORMATS = ("html", "md", "csv", "json")


def report(
    set: str = LATEST,
    *,
    baseline: str | None = None,
    stack: Names = (),
    question: tuple[str, ...] = (),
    compare: Several = (),
    format: str = "html",
    out: str | None = None,
) -> None:
    """Writes the report and prints its path, or prints the report. Raises UserError for options that don't go together.

    :param set: a result set
    :param baseline: the stack that the others are compared with; it is always shown
    :param stack: show only these stacks and the baseline; globs; the figures are still computed from the whole set
    :param question: show only the questions of these names; globs; the figures are still computed from the whole set
    :param compare: compare result sets with the first of them, in place of one's report: `--compare BEFORE AFTER`
    :param format: html, md for a comment on a change, csv or json
    :param out: the file to write, or `-` (default for html: in the set's folder; a part or comparison in this folder)
    """
    check_form(format, FORMATS, out)
    if compare:
        if set != LATEST or baseline or stack or question:
            raise UserError("--compare names sets, each of which is compared with the first: only --format and --out.")
        # Its exit code is ignored: a report succeeds even if a case is slower. `./stackwars compare` is for scripts.
        compare_sets(compare, format=format, out=out)
    elif format == "html":
        # A part is written in this folder, to keep the whole page in the set's folder.
        target = out or (FILE_NAME if stack or question else None)
        page = render(named(set), Path(target) if target else None, baseline, stack, question)
        if not is_standard(target):
            print(page)
    else:
        write_export(export(results.load(named(set)), baseline, stack, question), format, out)
