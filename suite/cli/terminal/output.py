"""Writes a command's results to a file or to standard output, in the format that `--format` or `--json` names."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from suite.cli.terminal.console import print_table
from suite.environments import say
from suite.errors import UserError, unknown
from suite.report.formats.render import write
from suite.report.tables import Export, known

VERSION = 1  # of every object that --json prints; a changed meaning raises it, a new field doesn't


def print_json(fields: Mapping[str, Any]) -> None:
    """Prints one JSON object. With --json a command prints nothing else on standard output."""
    print(json.dumps(known({"version": VERSION, **fields})))


def check_form(form: str, forms: Collection[str], out: str | None) -> None:
    """Raises UserError for an unknown format, and for the format `text` together with a file, `out`."""
    if form not in forms:
        raise unknown("format", form, forms)
    if form == "text" and out:
        raise UserError(f"--out={out} needs --format=html, md, csv or json: text is only for the terminal.")


def write_export(export: Export, form: str, out: str | None) -> None:
    """Writes an export to the file `out` and prints its path; without `out`, prints the export. A table's sentences,
    which a CSV can't hold, go to standard error."""
    if form == "text":
        print_text(export)
        return
    if form == "csv":
        for table in export.tables:
            for sentence in (*table.before, *table.after) if table.lines else ():
                say(sentence)
    if out:
        write_file(export.written(form), Path(out))
    else:
        sys.stdout.write(export.written(form))


def write_file(text: str, path: Path) -> None:
    """Writes a file and prints its path."""
    write(path, text)
    print(path)


def print_text(export: Export) -> None:
    """Prints tables, each with all its sentences below it, since a terminal shows the end of the output."""
    for table in export.tables:
        print_table(table.title, list(table.heads), [list(line) for line in table.lines], numbers=table.numbers)
        for sentence in (*table.after, *table.before):
            print(sentence)
        print()
