"""Where a command's answer goes, in the form that was asked for: a file, or standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from suite.cli.console import print_table
from suite.environments import say
from suite.errors import UserError, unknown
from suite.report.formats.render import write
from suite.report.formats.tables import Told, known

VERSION = 1  # of every object that --json prints; a further field doesn't raise it


def print_json(fields: Mapping[str, Any]) -> None:
    """One object on standard output, which then has nothing else."""
    print(json.dumps(known({"version": VERSION, **fields})))


def check_form(form: str, forms: Collection[str], out: str | None) -> None:
    """Raises UserError for a form that there isn't, before anything is read."""
    if form not in forms:
        raise unknown("format", form, forms)
    if form == "text" and out:
        raise UserError(f"--out={out} goes with --format=html, md, csv or json: text is for the terminal.")


def told_form(told: Told, form: str, out: str | None) -> None:
    """Into a file, whose path is told, or onto standard output. What a CSV can't hold goes to standard error."""
    if form == "text":
        print_text(told)
        return
    if form == "csv":
        for table in told.tables:
            for sentence in (*table.before, *table.after) if table.lines else ():
                say(sentence)
    if out:
        put(told.written(form), Path(out))
    else:
        sys.stdout.write(told.written(form))


def put(text: str, target: Path) -> None:
    """A file, and its path."""
    write(target, text)
    print(target)


def print_text(told: Told) -> None:
    """Tables with their sentences below, as a terminal is read from its end."""
    for table in told.tables:
        print_table(table.title, list(table.heads), [list(line) for line in table.lines], numbers=table.numbers)
        for sentence in (*table.after, *table.before):
            print(sentence)
        print()
