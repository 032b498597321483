"""What a finished run says: per question a table and a sentence, or all of it as JSON."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

from suite import results, units
from suite.case import Outcome
from suite.cli.console import print_table
from suite.report.answers import headlines
from suite.report.outcomes import outcome_text
from suite.results.analysis import Analysis, Comparison
from suite.results.compare import Speedup
from suite.results.rows import accepted
from suite.results.stack_figures import StackFigures
from suite.results.store import ResultSet

COLOURS = {"faster": "green", "slower": "red", "tie": "cyan", "undecided": "yellow", "baseline": "dim"}


def tell(store: ResultSet, page: Path, code: int, as_json: bool) -> None:
    """The answers of a set, and where everything is, on standard output."""
    loaded = results.load(store.folder)
    analysis = loaded.analysis()
    if as_json:
        print(json.dumps(summary(store, loaded, analysis, page, code)))
        return
    for comparison, answer in zip(analysis.comparisons, headlines(analysis), strict=True):
        print_comparison(comparison, analysis.baseline)
        print(f"{answer.text}\n")
    print(f"Machine: {loaded.described_machine or units.UNKNOWN}")
    print(f"Results: {store.results_path}\nReport:  {page}")


def print_comparison(comparison: Comparison, baseline: str) -> None:
    """One question: fastest first, what has no times last, with its outcome in place of a verdict."""
    columns = ["stack", "median", f"speedup over {baseline}", "verdict", "first run", "second run", "average"]
    rows = []
    for figures in comparison.stacks:
        times = [units.seconds(seconds) for seconds in (figures.first, figures.second, figures.average)]
        median = units.seconds(figures.median.value)
        rows.append([figures.stack, median, speedup_text(figures), verdict_text(figures), *times])
    dash = units.UNKNOWN
    rows += [[cell.stack, dash, dash, outcome_text(cell), dash, dash, dash] for cell in comparison.untimed]
    print_table(comparison.name, columns, rows, numbers=("median", columns[2], *columns[4:]), markup=True)


def verdict_text(figures: StackFigures) -> str:
    """The verdict, or `baseline`; where some process did not end ok that too, and nothing else if none counts."""
    if not figures.counts:
        return outcome_text(figures.cell)
    verdict = figures.speedup.verdict if figures.speedup else units.UNKNOWN
    word = coloured("baseline" if figures.is_baseline else verdict)
    return f"{word} ({outcome_text(figures.cell)})" if figures.outcome != Outcome.OK else word


def coloured(verdict: str) -> str:
    """A word in its colour; rich leaves colours away where they can't be shown."""
    return f"[{COLOURS[verdict]}]{verdict}[/]" if verdict in COLOURS else verdict


def speedup_text(figures: StackFigures) -> str:
    """`1.42× [1.35, 1.50]`."""
    if figures.speedup is None:
        return units.UNKNOWN
    ratio = figures.speedup.ratio
    return units.estimate(ratio.value, ratio.low, ratio.high)


def summary(store: ResultSet, loaded: results.Results, analysis: Analysis, page: Path, code: int) -> dict[str, Any]:
    """The machine-readable end of a run: paths, outcomes, and per comparison medians, ratios, intervals, verdicts."""
    return {
        "set": str(store.folder),
        "results": str(store.results_path),
        "report": str(page),
        "rows": len(loaded.rows),
        "outcomes": dict(Counter(row["outcome"] for row in accepted(loaded.rows))),
        "exit_code": code,
        "machine": loaded.described_machine,
        "machine_id": loaded.machine.get("machine_id"),
        "ceilings": loaded.ceilings,
        "baseline": analysis.baseline,
        "comparisons": [
            {
                "name": comparison.name,
                "answer": answer.text,
                "noise_floor": ratio_json(comparison.noise),
                "stacks": [stack_json(figures) for figures in comparison.stacks]
                + [{"stack": cell.stack, "outcome": cell.outcome, "reason": cell.reason}
                   for cell in comparison.untimed],
            }
            for comparison, answer in zip(analysis.comparisons, headlines(analysis), strict=True)
        ],
    }  # fmt: skip


def stack_json(figures: StackFigures) -> dict[str, Any]:
    """One stack of a comparison; times in seconds."""
    return {
        "stack": figures.stack,
        "outcome": figures.outcome,
        "median_seconds": figures.median.value,
        "median_low_seconds": figures.median.low,
        "median_high_seconds": figures.median.high,
        "first_seconds": figures.first,
        "second_seconds": figures.second,
        "average_seconds": figures.average,
        "speedup": ratio_json(figures.speedup),
        "flags": [flag for flag, _ in figures.flags],
        "kernels": figures.kernels or None,
    }


def ratio_json(speedup: Speedup | None) -> dict[str, Any] | None:
    """A ratio with its interval and verdict; null where there is none."""
    if speedup is None:
        return None
    ratio = speedup.ratio
    return {"value": ratio.value, "low": ratio.low, "high": ratio.high, "verdict": speedup.verdict}
