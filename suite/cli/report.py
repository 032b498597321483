"""`./stackwars report`: a result set as a page, as Markdown for a comment, as CSV or JSON; with --compare, two sets."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from suite import results
from suite.archive.naming import named
from suite.cli.compare import compare
from suite.cli.output import check_form, told_form
from suite.errors import UserError
from suite.report.formats.render import FILE_NAME, render
from suite.report.formats.text import told

LATEST = "results/latest"
FORMATS = ("html", "md", "csv", "json")


def report(
    path: str, baseline: str | None, compared: Sequence[str], form: str, out: str | None, stacks: Sequence[str] = ()
) -> None:
    """Write it and tell where it is, or print it. Raises UserError for options that don't go together."""
    check_form(form, FORMATS, out)
    if compared:
        if baseline or stacks or path != LATEST:
            raise UserError(
                "--compare names the sets by itself, each against the first; it goes with --format and --out alone."
            )
        # A report tells: whether a script shall fail is `./stackwars compare`'s to say.
        compare(compared, by=None, baseline=None, across_unlike=False, threshold="1.05", form=form, out=out)
    elif form == "html":
        partial = FILE_NAME if stacks else None  # here: the set's own page shows all of it
        target = out or partial
        print(render(named(path), Path(target) if target else None, baseline, stacks))
    else:
        told_form(told(results.load(named(path)), baseline, stacks), form, out)
