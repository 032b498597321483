"""`./stackwars report` and `pitfalls`: a result set, or several compared, as a page, Markdown, CSV or JSON."""

from __future__ import annotations

from pathlib import Path

from suite import results
from suite.archive.naming import named
from suite.cli.options.sets import CompareOptions, PitfallsOptions, ReportOptions
from suite.cli.options.values import needed
from suite.cli.sets.compare import compare
from suite.cli.terminal.output import check_form, write_export
from suite.errors import UserError
from suite.report.formats.export import export
from suite.report.formats.render import FILE_NAME, render
from suite.report.lesson.pitfalls import write

FORMATS = ("html", "md", "csv", "json")


def report(options: ReportOptions) -> None:
    """Writes the report and prints its path, or prints the report. Raises UserError for options that don't go
    together."""
    form, out, baseline = options.format, options.out, options.baseline
    shown = options.stack, options.question
    check_form(form, FORMATS, out)
    if options.compare:
        if options.words("compare", "format", "out"):
            raise UserError(
                "--compare names its sets, each compared with the first; it goes with --format and --out alone."
            )
        # A report's exit code is 0: `./stackwars compare` has one by which a script can fail.
        compare(CompareOptions(set=options.compare, format=form, out=out))
    elif form == "html":
        partial = FILE_NAME if any(shown) else None  # in this folder: the page in the set shows all of it
        target = out or partial
        print(render(named(options.set), Path(target) if target else None, baseline, *shown))
    else:
        write_export(export(results.load(named(options.set)), baseline, *shown), form, out)


def pitfalls(options: PitfallsOptions) -> None:
    """Writes the lesson on pitfalls from a set of probes, and prints its path."""
    behaviour, times = (results.load(named(name)) for name in (options.set, needed("times", options.times)))
    print(write(behaviour, times, Path(options.out)))
