"""What a finished run says: per question a table and a sentence, or all of it as JSON."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from suite import results, units
from suite.cli.console import print_table
from suite.report.page import Tables, tables
from suite.report.tables import Comparison, StackRow
from suite.results.store import ResultSet, accepted

COLOURS = {"faster": "green", "slower": "red", "tie": "cyan", "undecided": "yellow", "baseline": "dim"}


def tell(store: ResultSet, page: Path, code: int, as_json: bool) -> None:
    """The answers of a set, and where everything is, on standard output."""
    loaded = results.load(store.folder)
    found = tables(loaded)
    if as_json:
        print(json.dumps(summary(store, loaded, found, page, code)))
        return
    for comparison, answer in zip(found.comparisons, found.headlines, strict=True):
        print_comparison(comparison, found.baseline)
        print(f"{answer.text}\n")
    print(f"Results: {store.results_path}\nReport:  {page}")


def print_comparison(comparison: Comparison, baseline: str) -> None:
    """One question: fastest first, what has no times last, with its outcome in place of a verdict."""
    columns = ["stack", "median", f"speedup over {baseline}", "verdict", "first run", "second run", "average"]
    rows = []
    for row in comparison.rows:
        times = [units.seconds(value) for value in (row.median.value, row.first, row.second, row.average)]
        rows.append([row.stack, times[0], speedup_text(row), coloured(word(row)), *times[1:]])
    dash = units.UNKNOWN
    rows += [[cell.stack, dash, dash, cell.text, dash, dash, dash] for cell in comparison.failed]
    print_table(comparison.name, columns, rows, numbers=("median", columns[2], *columns[4:]), markup=True)


def word(row: StackRow) -> str:
    """The verdict; `baseline`; for a stack that isn't `ok` its outcome."""
    if row.outcome != "ok" and not (row.speedup and row.counts):
        return row.outcome_text
    if row.is_baseline:
        return "baseline"
    return row.speedup.verdict if row.speedup else units.UNKNOWN


def coloured(verdict: str) -> str:
    """A word in its colour; rich leaves colours away where they can't be shown."""
    return f"[{COLOURS[verdict]}]{verdict}[/]" if verdict in COLOURS else verdict


def speedup_text(row: StackRow) -> str:
    """`1.42× [1.35, 1.50]`."""
    if row.is_baseline or row.speedup is None:
        return units.UNKNOWN
    return f"{units.ratio(row.speedup.ratio)} {units.interval(row.speedup.low, row.speedup.high)}".strip()


def summary(
    store: ResultSet, loaded: results.Results, found: Tables, page: Path, code: int
) -> dict[str, Any]:
    """The machine-readable end of a run: paths, outcomes, and per comparison medians, ratios, intervals, verdicts."""
    return {
        "set": str(store.folder),
        "results": str(store.results_path),
        "report": str(page),
        "rows": len(loaded.rows),
        "outcomes": dict(Counter(row["outcome"] for row in accepted(loaded.rows))),
        "exit_code": code,
        "baseline": found.baseline,
        "comparisons": [
            {
                "name": comparison.name,
                "answer": answer.text,
                "noise_floor": ratio_json(comparison.noise),
                "stacks": [stack_json(row) for row in comparison.rows]
                + [{"stack": cell.stack, "outcome": cell.outcome, "reason": cell.text} for cell in comparison.failed],
            }
            for comparison, answer in zip(found.comparisons, found.headlines, strict=True)
        ],
    }


def stack_json(row: StackRow) -> dict[str, Any]:
    """One stack of a comparison; times in seconds."""
    return {
        "stack": row.stack,
        "outcome": row.outcome,
        "median_seconds": row.median.value,
        "median_low_seconds": row.median.low,
        "median_high_seconds": row.median.high,
        "first_seconds": row.first,
        "second_seconds": row.second,
        "average_seconds": row.average,
        "speedup": ratio_json(row.speedup),
        "flags": [flag for flag, _ in row.flags],
    }


def ratio_json(found: Any) -> dict[str, Any] | None:
    """A ratio with its interval and verdict; null where there is none."""
    if found is None:
        return None
    return {"value": found.ratio, "low": found.low, "high": found.high, "verdict": found.verdict}
