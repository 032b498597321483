"""`./stackwars report` writes a set, or a comparison of sets, as a page, Markdown, CSV or JSON; `pitfalls` a lesson."""

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
                "--compare names sets, each of which is compared with the first; it goes only with --format and --out."
            )
        # Its exit code is ignored: a report succeeds even if a case is slower. `./stackwars compare` is for scripts.
        compare(CompareOptions(set=options.compare, format=form, out=out))
    elif form == "html":
        partial = FILE_NAME if any(shown) else None  # in this folder, to keep the whole page in the set's folder
        target = out or partial
        print(render(named(options.set), Path(target) if target else None, baseline, *shown))
    else:
        write_export(export(results.load(named(options.set)), baseline, *shown), form, out)


def pitfalls(options: PitfallsOptions) -> None:
    """Writes the lesson on pitfalls from a set of probes, and prints its path."""
    behaviour, times = (results.load(named(name)) for name in (options.set, needed("times", options.times)))
    print(write(behaviour, times, Path(options.out)))
