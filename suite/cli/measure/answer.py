"""Prints the results of a finished run: the tables and answers of each section, or all of them as JSON."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from rich.text import Text

from suite import units
from suite.cli.terminal.console import print_table
from suite.cli.terminal.output import print_json
from suite.guard.printable import printable
from suite.machine.description import named
from suite.report.formats.export import document
from suite.report.page import Report
from suite.report.tables import Table
from suite.results import Results
from suite.results.analysis import Analysis, Comparison
from suite.results.store.result_set import ResultSet

COLOURS = {"faster": "green", "slower": "red", "tie": "cyan", "close": "cyan", "undecided": "yellow", "baseline": "dim"}


def print_results(
    store: ResultSet, loaded: Results, analysis: Analysis, report: Report, page: Path, code: int, as_json: bool
) -> None:
    """Prints the results of a set and the paths of its files; with `as_json`, as one JSON object."""
    if as_json:
        paths: dict[str, Any] = {"set": str(store.folder), "results": str(store.results_path), "report": str(page)}
        print_json(paths | {"exit_code": code} | document(loaded, analysis, report))
        return
    for section in report.sections:
        print_tables(section.console())
    if analysis.protocol.at_once:  # a check, whose times say nothing
        print(*map(agreement, analysis.comparisons), sep="\n")
    elif report.overview:
        print(report.overview.sentence)
    if report.cause:
        print(report.cause.first, f"To test it: {report.cause.command}" if report.cause.command else "")
    print(f"Machine: {named(loaded.machine)} (details: in the report)")
    print(f"Results: {store.results_path}\nReport:  {page}")


def agreement(comparison: Comparison) -> str:
    """Returns how many cases of a question ran and agree, and how nearly."""
    right = [stack for stack in comparison.stacks if stack.counts]
    errors = [stack.relative_error for stack in right if stack.relative_error is not None]
    worst = f"; the worst relative error is {units.magnitude(max(errors))}" if errors else ""
    agreed = f"{comparison.name}: {len(right)} of {len(comparison.cells)} run and agree{worst}."
    return f"{agreed} Times of a check say nothing."


def print_tables(tables: Iterable[Table]) -> None:
    """Prints tables, each with its sentences below it."""
    for table in tables:
        lines = [
            [coloured(text) if head == "verdict" else text for head, text in zip(table.heads, line, strict=True)]
            for line in table.lines
        ]
        if table.heads:
            print_table(table.title, list(table.heads), lines, numbers=table.numbers)
        for sentence in (*table.before, *table.after):
            print(sentence)
        print()


def coloured(verdict: str) -> Text:
    """Returns a verdict whose first word is coloured. rich leaves out the colour where it can't be shown."""
    word, space, rest = printable(verdict).partition(" ")
    return Text.assemble((word, COLOURS.get(word, "")), space + rest)
