"""Prints the results of a finished run, as the tables and answers of each section or as JSON, and explains its exit
code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from suite import units
from suite.answers.endings import lines, shortened
from suite.answers.sentences import counted, listed
from suite.case import Flag, Outcome
from suite.cli.terminal.output import print_json, print_tables
from suite.errors import COMMAND
from suite.machine.description import named
from suite.page.between_sets import compared_revisions, exported
from suite.page.formats.export import document
from suite.page.report import Report
from suite.page.tables import Table
from suite.results import Results
from suite.results.analysis import Analysis, Comparison
from suite.results.changes import changes
from suite.results.outcomes import FAILED, FAILURES, NOTHING_MEASURED, gravest, outcome_text, outcome_words
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row, accepted
from suite.verdicts.grouping import grouped
from suite.verdicts.names import question_names

DOUBTS: dict[str, str] = {
    Flag.UNVERIFIED: "its result was compared with nothing that could show it wrong",
    Flag.NOT_FINITE: "some of its results are NaN or infinite",
    Flag.GRAPH_BREAKS: "the compiler left parts of it to Python",
    Flag.NO_FLOAT64: "its model doesn't run in float64, so the majority of stacks says what is right",
    Flag.WIDER: "it computes in a wider type than its inputs have",
}
VERBS: dict[str, str] = {
    Outcome.ERROR: "failed",
    Outcome.CRASHED: "crashed",
    Outcome.WRONG: "gave wrong results",
    Outcome.DIFFER: "differ",
}
ALIKE = ("question", "outcome", "phase", "reason")  # in which failed cases agree that share a line
THRESHOLD = 1.05  # the ratio of times from which on a slower revision counts, as for `compare`
MOST = 5  # failures that are printed; the others are only counted


def print_results(
    store: ResultSet, loaded: Results, analysis: Analysis, report: Report, page: Path, code: int, as_json: bool
) -> None:
    """Prints the results of a set and the paths of its files; with `as_json`, as one JSON object."""
    if as_json:
        paths: dict[str, Any] = {"set": str(store.folder), "results": str(store.results_path), "report": str(page)}
        print_json(paths | {"exit_code": code, "undecided": report.undecided} | document(report))
        return
    print_tables(shown(report))
    if report.overview and not analysis.protocol.at_once:
        print(*filter(None, [report.frameworks, report.overview.sentence, *report.undecided]), sep="\n")
        for stack, doubt in [pair for each in analysis.comparisons for pair in doubts(each)]:
            print(f"Note: {stack}: {doubt}.")
        if found := changes(store.plan_file, analysis, THRESHOLD):
            tie = analysis.protocol.tie_ratio
            print_tables(exported([compared_revisions(analysis, found, store.folder.name, tie)]).tables)
            print(f"This writes a page of them: {COMMAND} compare {store.folder} --by=variant --format=html")
        elif any(each.head["implementation"] for each in analysis.comparisons):
            name = analysis.comparisons[0].timed[-1].stack if analysis.comparisons[0].timed else "STACK"
            print(f"To compare with another function, run: {COMMAND} report --baseline={name} --format=md")
    if report.cause:
        print(report.cause.first, f"This tests it: {report.cause.command}" if report.cause.command else "")
    print(f"Machine: {named(loaded.machine)} (details: in the report)")
    print(f"Results: {store.results_path}\nReport:  {page}")


def doubts(comparison: Comparison) -> list[tuple[str, str]]:
    """Returns (stack, what to know of its result) of a question of a file."""
    if not comparison.head["implementation"]:
        return []
    return [
        (stack.stack, f"{DOUBTS[flag]}{f' ({share} processes)' if share else ''}")
        for stack in comparison.timed
        for flag, share in stack.flags
        if flag in DOUBTS
    ]


def shown(report: Report) -> list[Table]:
    """Returns the tables that a person gets. A check's have no times, which say nothing."""
    if report.analysis.protocol.at_once:
        return [agreement(comparison) for comparison in report.analysis.comparisons]
    return [table for section in report.sections for table in section.console()]


def agreement(comparison: Comparison) -> Table:
    """Returns how each case of a question ended, and how nearly those that ran agree."""
    figures = {stack.stack: stack for stack in comparison.timed}
    errors = {name: stack.relative_error for name, stack in figures.items() if stack.counts}
    lines = [
        [cell.stack, outcome_text(cell), units.magnitude(errors.get(cell.stack)), shortened(cell.reason)]
        for cell in comparison.cases
    ]
    known = [error for error in errors.values() if error is not None]
    worst = f"; the worst relative error is {units.magnitude(max(known))}" if known else ""
    groups = sorted({cell.reason for cell in comparison.cases if cell.outcome == Outcome.DIFFER})
    words = {0: "run", 1: "runs"}.get(len(errors), "run and agree")  # one has none to agree with
    agree = [f"{len(errors)} of {len(comparison.cases)} {words}{worst}"] if errors or not groups else []
    after = [f"{'; '.join([*agree, *groups])}.", *(f"Note: {stack}: {doubt}." for stack, doubt in doubts(comparison))]
    heads = ["stack", "outcome", "relative error", "why"]
    return Table(comparison.name, heads, lines, ["relative error"], after=after)


def explained(code: int, rows: Sequence[Row], folder: Path, page: Path) -> list[str]:
    """Returns the lines that explain an exit code. None are needed for a code other than `FAILED` (some process ended
    as an error, a crash or a wrong result) and `NOTHING_MEASURED`. `rows` are all rows of the set in `folder`."""
    if code == NOTHING_MEASURED:
        return ["Nothing was measured: no case of this run can run here. The page has each case's reason."]
    if code != FAILED:
        return []
    kept = accepted(rows)
    of_purpose = grouped(kept, lambda row: row.text("purpose"))
    names = {(word, id_): name for word, heads in of_purpose.items() for id_, name in question_names(heads).items()}
    failed = [line for line in lines(kept, names) if line["outcome"] in FAILURES]
    alike = [*grouped(failed, lambda line: tuple(line[name] for name in ALIKE)).values()]
    cases = [
        gravest(row.outcome for row in processes) for processes in grouped(kept, lambda row: row["case_id"]).values()
    ]
    words = [f"{cases.count(word)} of {len(cases):,} cases {VERBS[word]}" for word in FAILURES if word in cases]
    rest = [f"  and {counted(len(alike) - MOST, 'more failure')}: {page}#endings"] if len(alike) > MOST else []
    return [
        f"Exit code {code}: {', '.join(words)}.",
        *(line for failures in alike[:MOST] for line in lines_of(failures, folder)),
        *rest,
    ]


def lines_of(failures: Sequence[Mapping[str, Any]], folder: Path) -> list[str]:
    """Returns the lines of a question's cases that failed alike: their stacks, their reason, and a log."""
    first, processes = failures[0], sum(failure["processes"] for failure in failures)
    often = f" ({processes} processes)" if processes > 1 else ""
    stacks = [*dict.fromkeys(failure["stack"] for failure in failures)]
    reason = shortened(first["reason"]) or "no reason was recorded"
    ending = outcome_words(first["outcome"], first["phase"])
    whose = f" of {first['stack']}" if len(stacks) > 1 else ""
    log = [f"    log{whose}: {folder / first['log']}"] if first["log"] else []
    return [f"  {listed(stacks)} on {first['question']}{often}: {ending}: {reason}", *log]
