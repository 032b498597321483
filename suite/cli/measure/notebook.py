"""`stackwars.ask`: a question from a notebook."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from suite.cli.terminal.output import print_tables
from suite.cli.values import typed
from suite.errors import UserError
from suite.page.report import report
from suite.results import load

if TYPE_CHECKING:
    import polars as pl

Values = str | int | bool | list[str]


def ask(file: str | Path, **options: Values) -> pl.DataFrame:
    """Asks a question file as `./stackwars ask FILE` does, prints its tables, and returns a row for each stack on each
    question. `options` are the command's, with _ for -; a list repeats one, and True is an option without a value.

    It measures in processes of its own, so what the notebook does meanwhile disturbs it. Raises UserError with the
    command's words if nothing was measured.
    """
    words = [word for name, value in options.items() for word in typed(name, value)]
    program = [
        sys.executable,
        "-P",
        "-m",
        "suite.cli",
    ]  # -P: a question file in this folder may be called like a module
    done = subprocess.run([*program, "ask", str(file), "--json", *words], capture_output=True, text=True, check=False)
    if not done.stdout.startswith("{"):
        raise UserError(done.stderr.strip())
    told = json.loads(done.stdout)
    if "set" not in told:
        raise UserError("stackwars.ask measures, and returns the figures: leave dry_run out.")
    results = load(told["set"])
    for section in report(results).sections:
        print_tables(section.console())
    return results.stacks()
