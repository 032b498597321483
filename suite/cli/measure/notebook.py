"""What `stackwars.ask` starts: `python -m suite.cli.measure.notebook` with {"words": …, "options": …} asks as the
command does, and prints one JSON object: the rows, the tables, and the text of what the command prints."""

from __future__ import annotations

import json
import sys
from contextlib import redirect_stdout
from dataclasses import asdict
from io import StringIO
from pathlib import Path

from suite.cli.app import APP, code_of
from suite.cli.measure.answer import print_results, shown
from suite.cli.terminal.output import print_json
from suite.cli.values import typed
from suite.page.report import Report
from suite.page.tables import Table
from suite.results import load
from suite.sets.result_set import ResultSet

CHECKED = ("question", "stack", "outcome", "phase", "reason", "ok", "planned", "relative_error", "tolerance", "flags")


def main(asked: str) -> int:
    """Returns the command's exit code. Nothing is printed if nothing was measured: standard error says why."""
    given = json.loads(asked)
    options = [word for name, value in given["options"].items() for word in typed(name, value)]
    with redirect_stdout(StringIO()) as told:
        code = code_of(APP, ["ask", *given["words"], *options, "--json"])
    done = json.loads(told.getvalue() or "{}")
    if "set" not in done:
        if done:
            print("stackwars.ask measures, and returns the figures: leave dry_run out.", file=sys.stderr)
        return code
    results, page = load(done["set"]), Path(done["report"])
    report = Report(results, results.analysis())
    with redirect_stdout(StringIO()) as text:
        print_results(ResultSet.open(results.path), results, report.analysis, report, page, code, as_json=False)
    frame, tables = results.stacks(), shown(report)
    if report.overview and not report.analysis.protocol.at_once:
        tables = [Table("", (), (), before=[*filter(None, [report.frameworks, report.overview.sentence])]), *tables]
    rows = (frame.select(CHECKED) if report.analysis.protocol.at_once else frame).to_dicts()
    paths = {"set": str(results.path.absolute()), "report": str(page.absolute())}
    print_json(paths | {"exit_code": code, "rows": rows, "text": text.getvalue(), "tables": [*map(asdict, tables)]})
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
