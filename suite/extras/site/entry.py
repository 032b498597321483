"""The entry of a set in a site: all that the site's other pages need of it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

from suite import units
from suite.answers.sentences import capital
from suite.case import canonical_json
from suite.extras.site.history import Point, points_in, version_words
from suite.machine.description import processor
from suite.order import natural
from suite.page.map.cells import NOTHING, Square
from suite.page.map.frameworks import Pair, of_question, pairs
from suite.page.report import Report
from suite.page.sections.whole_set.asked import AskedSection
from suite.page.sections.whole_set.method import sampled
from suite.plan.shards import digest
from suite.results import Results
from suite.results.analysis import Analysis
from suite.sets.listing import Listed
from suite.sets.rows import Row
from suite.stats import reach
from suite.verdicts.names import details, measured_at

USUAL = {"track": "default", "cache": "cold", "target": "cpu"}  # what a question's details leave out
SENTENCE = re.compile(r"(?<=[.?!])\s")  # its end


@dataclass(frozen=True, slots=True)
class QuestionEntry:
    """One question of a set, with what other pages say of that set. `name` is the same in every set that has the
    question, `title` says it in words, with its `details`; `answer` is the first that the set gives; `pairs` are its
    frameworks; `squares` is {stack: its cell in a map}."""

    name: str
    title: str
    details: str
    track: str
    workload: str
    machine_id: str
    baseline: str
    answer: str
    pairs: tuple[Pair, ...]
    squares: dict[str, Square]
    set_name: str
    created_at: str
    machine: str

    @property
    def stacks(self) -> tuple[str, ...]:
        return tuple(self.squares)


@dataclass(frozen=True, slots=True)
class Entry:
    """One set, whose files were checked against its manifest.

    `machines` are the ids of the machines that measured it, and `described` is its machine in one line. `stacks` is
    {stack: versions of its packages}. `trust` is the word of the badge on its page, and `noise` says how much equal
    processes differ. `plan` is what it asks and runs, and `reproduced_by` are the other machines whose sets of the
    same plan confirm it.
    """

    name: str
    set_id: str
    created_at: str
    target: str
    preset: str
    title: str
    machine: str
    described: str
    machines: tuple[str, ...]
    workloads: tuple[str, ...]
    stacks: dict[str, str]
    outcomes: dict[str, int]
    sampled: str
    trust: str
    noise: str
    questions: tuple[QuestionEntry, ...]
    points: tuple[Point, ...]
    plan: str
    reproduced_by: tuple[str, ...] = ()

    @classmethod
    def of(cls, listed: Listed, report: Report) -> Entry:
        facts, results, analysis = listed.facts, report.results, report.analysis
        return cls(
            name=listed.name,
            set_id=results.set_id,
            created_at=listed.created_at,
            target=str(facts.get("target") or ""),
            preset=str(facts.get("preset") or ""),
            title=report.title,
            machine=processor(facts.get("machine") or {}),
            described=results.described_machine,
            machines=tuple(sorted({row.text("machine_id") for row in results.rows} - {""})),
            workloads=tuple(sorted({row.text("workload") for row in analysis.rows})),
            stacks=versions(analysis.counted),
            outcomes={str(name): int(count) for name, count in sorted((facts.get("outcomes") or {}).items())},
            sampled=sampled(analysis.counted),
            trust=str(report.trust),
            noise=noise(analysis, results),
            questions=tuple(questions(report, listed)),
            points=tuple(points_in(listed, results.rows)),
            plan=f"{digest(file.plan)} {canonical_json(file.code)}" if (file := results.plan_file) else "",
        )


def versions(rows: Sequence[Row]) -> dict[str, str]:
    """Returns {stack: versions of its frameworks}, like `jax 0.10.2`."""
    by_stack: dict[str, dict[str, Any]] = {}
    for row in rows:
        by_stack.setdefault(row.stack_name, {}).update(row.mapping("versions"))
    return {
        stack: version_words({name: version for name, version in all_.items() if name != "python"})
        for stack, all_ in sorted(by_stack.items(), key=lambda item: natural(item[0]))
    }


def noise(analysis: Analysis, results: Results) -> str:
    """Returns in words how much equal processes differ, and how many blocks were noisy."""
    floors = [
        width - 1
        for comparison in analysis.comparisons
        if comparison.noise and (width := reach(comparison.noise.ratio)) is not None
    ]
    noisy = sum(bool(block.get("reasons")) for block in results.blocks)
    parts = []
    if floors:
        least, most = units.percent(min(floors)), units.percent(max(floors))
        parts.append(f"equal processes within ±{least}" + (f" to ±{most}" if most != least else ""))
    elif analysis.comparisons:
        parts.append("noise floor unknown")
    if noisy:
        parts.append(f"{noisy} of {len(results.blocks)} block runs noisy")
    return "; ".join(parts)


def questions(report: Report, listed: Listed) -> Iterator[QuestionEntry]:
    """Yields all questions of a set, as other pages of the site need them: with the cells of the set's own page."""
    if report.overview is None:
        return
    shown, files = report.overview.shown, report.section(AskedSection)
    asked = {file.workload: SENTENCE.split(file.heading)[0].rstrip(".") for file in files.files} if files else {}
    # Rows of cases that were never run don't name a machine.
    machines = {row["comparison_id"]: row.text("machine_id") for row in report.analysis.rows if row.text("machine_id")}
    for comparison, answer, row in zip(report.analysis.comparisons, report.headlines, shown.rows, strict=True):
        cells, workload = zip(shown.columns, row.squares, strict=True), comparison.head.text("workload")
        apart = [name for name, usual in USUAL.items() if comparison.head.text(name) != usual]
        yield QuestionEntry(
            name=comparison.head.comparison_name,
            title=f"{asked.get(workload, workload.replace('_', ' '))} ({comparison.head.text('pass')})",
            details="; ".join([measured_at(comparison.head), *details(comparison.head, apart)]),
            track=comparison.head.text("track"),
            workload=workload,
            machine_id=machines.get(comparison.id, ""),
            baseline=comparison.baseline,
            answer=capital(
                f"{of_question(comparison, report.analysis.pairing) or answer.text.rstrip('.').partition('. ')[0]}."
            ),
            pairs=tuple(pairs(comparison, report.analysis.pairing)),
            squares={stack: replace(cell, href="") for stack, cell in cells if cell.kind != NOTHING.kind},
            set_name=listed.name,
            created_at=listed.created_at,
            machine=processor(listed.facts.get("machine") or {}),
        )
