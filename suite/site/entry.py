"""The entry of a set in a site: all that the site's other pages need of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from suite import units
from suite.machine.description import processor
from suite.report.map.cells import Square
from suite.report.map.controls import baselines_of, is_decided
from suite.report.map.frames import Behind, behind
from suite.report.map.metrics import STEADY
from suite.report.map.page_map import map_row
from suite.report.page import Report
from suite.report.sections.timed.headlines import Headline, headlines
from suite.report.sections.whole_set.method import sampled
from suite.results import Results
from suite.results.analysis import Analysis, Comparison
from suite.results.cases.rebased import rebased
from suite.sets.archive.listing import Listed
from suite.sets.rows import Row
from suite.site.history import Point, points_in
from suite.stats import reach


@dataclass(frozen=True, slots=True)
class QuestionEntry:
    """One question of a set. `name` is the same in every set that has the question; `answer` is the first sentence of
    the set's answer; `squares` is {stack: its cell in a map}."""

    name: str
    workload: str
    machine_id: str
    baseline: str
    answer: str
    squares: dict[str, Square]


@dataclass(frozen=True, slots=True)
class Entry:
    """One set, whose files were checked against its manifest.

    `machines` are the ids of the machines that measured it, and `described` is its machine in one line. `stacks` is
    {stack: versions of its packages}. `trust` is the word of the badge on its page, and `noise` says how much equal
    processes differ.
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

    @classmethod
    def of(cls, listed: Listed, results: Results, analysis: Analysis, report: Report) -> Entry:
        facts = listed.facts
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
            questions=questions(analysis, condensed=report.condensed),
            points=tuple(points_in(listed, results.rows)),
        )


def versions(rows: Sequence[Row]) -> dict[str, str]:
    """Returns {stack: versions of its frameworks}, like `jax 0.10.2`. NumPy's version is shown only for a stack without
    another framework."""
    by_stack: dict[str, dict[str, str]] = {}
    for row in rows:
        by_stack.setdefault(row.stack_name, {}).update(
            {name: str(version) for name, version in row.mapping("versions").items() if name != "python"}
        )
    return {
        stack: ", ".join(f"{name} {all_[name]}" for name in sorted(all_) if name != "numpy" or len(all_) == 1)
        for stack, all_ in sorted(by_stack.items())
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


def questions(analysis: Analysis, *, condensed: bool) -> tuple[QuestionEntry, ...]:
    """Returns all questions of a set, as other pages of the site need them; their frames are those of the set's page,
    which may be `condensed`."""
    # Rows of cases that were never run don't name a machine.
    machines = {row["comparison_id"]: row.text("machine_id") for row in analysis.rows if row.text("machine_id")}
    over = [rebased(analysis, baseline) for baseline in baselines_of(analysis, condensed=condensed)]
    answers = [headlines(each) for each in over]
    pairs = behind(over, answers) if is_decided(analysis) else [None] * len(analysis.comparisons)
    return tuple(
        question(comparison, answer, slower, machines.get(comparison.id, ""))
        for comparison, answer, slower in zip(analysis.comparisons, headlines(analysis), pairs, strict=True)
    )


def question(comparison: Comparison, answer: Headline, pairs: Behind | None, machine_id: str) -> QuestionEntry:
    """Returns one question with its answer, as other pages of the site need it. `pairs` are the stacks that are shown
    to be slower than others."""
    stacks = [cell.stack for cell in comparison.cells]
    row = map_row(STEADY, comparison, stacks, pairs, linked=False)
    return QuestionEntry(
        name=comparison.head.comparison_name,
        workload=comparison.head.text("workload"),
        machine_id=machine_id,
        baseline=comparison.baseline,
        answer=f"{answer.text.rstrip('.').partition('. ')[0]}.",
        squares=dict(zip(stacks, row.squares, strict=True)),
    )
