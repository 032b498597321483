"""A result set without its page: Markdown short enough for a comment, CSV with a line for each stack of each question,
and one JSON object. `./stackwars report --format=md|csv|json` writes it; `run --json` ends in the same object."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from suite.answers.sentences import capital
from suite.page.report import Report
from suite.page.sections.registry import KEYS
from suite.page.tables import VERSION, Export, Table
from suite.results import Results
from suite.sets.rows import accepted

FACTS = ("Result set", "Measured", "Machine", "Cores each", "Processes", "Sampled", "Blocks")  # of the page's
HEADS = (
    *("question", "stack", "purpose", "outcome", "reason", "ok", "planned"),
    *("median_seconds", "low_seconds", "high_seconds", "first_seconds", "second_seconds"),
    *("baseline", "speedup", "speedup_low", "speedup_high", "verdict", "verdict_in_set", "verdict_reason"),
    *("peak_bytes", "flags"),
    "predicted_bytes",  # of a device's memory, by its compiler: never in the column of measured peaks
)


def export(
    results: Results, baseline: str | None = None, stacks: Sequence[str] = (), questions: Sequence[str] = ()
) -> Export:
    """Returns the content of the page, for all stacks and questions or for some (globs). Raises UserError for a
    baseline, a stack or a question that the set doesn't have."""
    report = Report(results, results.analysis(baseline, stacks, questions))
    lines = [[line.get(head) for head in HEADS] for section in report.sections for line in section.lines()]
    return Export(tables(report), HEADS, lines, document(report))


def tables(report: Report) -> list[Table]:
    """Returns the tables of Markdown: the answers, the notices, the sentence of each section, and the sections'
    tables."""
    facts = [f"{name}: {value}" for name, value in report.facts.items() if name in FACTS]
    facts += [f"Versions: {report.versions}"] * bool(report.versions)
    facts += [f"Command: {file.command}"] if (file := report.results.plan_file) else []
    said = filter(None, [report.frameworks, *(answer.text for _, answer in report.answers)])
    answers = Table(report.title, (), (), before=[*said, *facts])
    trust = [f"{capital(report.trust)}. {report.account.reason}", *report.notices]
    notices = Table("What to know before believing a number", (), (), before=trust)
    short = Table("In short", (), (), before=[f"{section.nav}: {section.answer}" for section in report.sections])
    of_sections = [table for section in report.sections for table in section.tables()]
    return [answers, notices, short, *of_sections]


def document(report: Report) -> dict[str, Any]:
    """Returns the set as one JSON object: its identity, how its processes ended, and the data of each section that has
    a key."""
    results, analysis = report.results, report.analysis
    data = {section.key: section.data() for section in report.sections}
    return {
        "version": VERSION,
        "set_id": report.set_id,
        "rows": len(results.rows),
        "outcomes": dict(Counter(row["outcome"] for row in accepted(results.rows))),
        "machine": results.described_machine,
        "machine_id": results.machine.get("machine_id"),
        "ceilings": results.ceilings,
        "baseline": analysis.baseline,
        "hidden": list(analysis.hidden),
        "answers": {section.name: section.answer for section in report.sections},
        **{key: data.get(key, []) for key in KEYS},
    }
