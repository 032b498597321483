"""A whole report as plain data: what the templates are given."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from suite.case import Outcome, Purpose
from suite.machine.description import moved
from suite.report.figures import comparison
from suite.report.figures.axes import Plot
from suite.report.figures.bars import KINDS, MEMORY, Bars, bars
from suite.report.notices import notices
from suite.report.sections import answers, surroundings
from suite.report.sections.answers import Headline
from suite.report.sections.behaviour import BehaviourSection, behaviour_section
from suite.report.sections.comparison import Section, section
from suite.report.sections.memory import MemorySection, memory_section
from suite.report.sections.outcomes import Failure, MatrixRow, failures
from suite.report.sections.profiles import ProfileSection, profile_section
from suite.report.sections.programs import ProgramSection, program_section
from suite.report.sections.summary import (
    PairRow,
    SummaryRow,
    TransferRow,
    compiled_pairs,
    pair_rows,
    summary_rows,
    transfer_rows,
)
from suite.report.sections.surroundings import BlockRecord, EnvironmentFacts, Fact, Recipe
from suite.report.sections.within_set import WaysSection, ways_section
from suite.results import Results
from suite.results.analysis import Analysis, Comparison
from suite.results.questions.behaviour import Behaviour
from suite.results.questions.capacity import MemoryQuestion
from suite.results.questions.holders import HolderQuestion
from suite.results.questions.names import precision_words
from suite.results.questions.profiles import ProfileQuestion
from suite.results.questions.programs import ProgramQuestion
from suite.stacks.catalog import STACKS

Question = Comparison | MemoryQuestion | ProfileQuestion | ProgramQuestion | Behaviour


@dataclass(frozen=True, slots=True)
class Report:
    """Every table and figure of the page, ready to be drawn. `family` counts the ratios that are judged together."""

    set_id: str
    title: str
    facts: tuple[Fact, ...]
    notices: tuple[str, ...]
    baseline: str
    headlines: tuple[Headline, ...]
    summary: tuple[SummaryRow, ...]
    summary_plot: Plot | None
    stacks: tuple[str, ...]
    matrix: tuple[MatrixRow, ...]
    sections: tuple[Section, ...]
    plots: dict[str, tuple[Plot, ...]]
    peaks: dict[str, Bars | None]
    memory: tuple[MemorySection, ...]
    holders: tuple[HolderQuestion, ...]
    programs: tuple[ProgramSection, ...]
    profiles: tuple[ProfileSection, ...]
    behaviour: tuple[BehaviourSection, ...]
    pairs: tuple[PairRow, ...]
    transfers: tuple[TransferRow, ...]
    ways: tuple[WaysSection, ...]
    failures: tuple[Failure, ...]
    machine: tuple[Fact, ...]
    environments: tuple[EnvironmentFacts, ...]
    blocks: tuple[BlockRecord, ...]
    recipe: Recipe | None
    family: int


def report(results: Results, baseline: str | None = None) -> Report:
    """The whole page of a result set. Raises UserError for a baseline that the set doesn't have."""
    return report_of(results, results.analysis(baseline))


def report_of(results: Results, analysis: Analysis) -> Report:
    """The same of a set that is analysed already."""
    plan, tie = results.plan, results.protocol.tie_ratio
    sections = tuple(map(section, analysis.comparisons))
    stacks = catalogue_order({cell.stack for comparison in analysis.comparisons for cell in comparison.cells})
    means = summary_rows(analysis)
    revision, modified = surroundings.source(results.path / "inputs")
    records = surroundings.block_records(results.blocks)
    set_id = plan.set_id if plan else results.path.stem
    return Report(
        set_id=set_id,
        title=title(analysis, set_id),
        facts=facts(results, analysis),
        notices=(
            *notices(analysis, plan, records, modified),
            *filter(None, [moved(results.ceilings)]),
            *surroundings.differences(analysis.rows),
        ),
        baseline=analysis.baseline,
        headlines=answers.headlines(analysis),
        summary=means,
        summary_plot=comparison.of_summary(means, analysis.baseline, tie),
        stacks=stacks,
        matrix=tuple(matrix_row(each, stacks) for each in sections),
        sections=sections,
        peaks={each.anchor: peak_bars(each) for each in sections},
        plots={each.anchor: comparison.of_section(each, tie) for each in sections},
        memory=tuple(map(memory_section, analysis.memory)),
        holders=analysis.holders,
        programs=tuple(map(program_section, analysis.programs)),
        profiles=tuple(map(profile_section, analysis.profiles)),
        behaviour=tuple(map(behaviour_section, analysis.behaviour)),
        pairs=pair_rows(analysis, compiled_pairs(stacks)),
        transfers=transfer_rows(analysis),
        ways=tuple(map(ways_section, analysis.ways)),
        failures=failures(analysis.rows, names_of(analysis)),
        machine=surroundings.machine_facts(results.machine, results.ceilings),
        environments=surroundings.environments(analysis.rows, plan),
        blocks=records,
        recipe=surroundings.recipe(plan, revision, modified),
        family=len(analysis.speedups),
    )


def names_of(analysis: Analysis) -> dict[str, str]:
    """What each comparison_id is called on the page."""
    sized = {
        row["comparison_id"]: f"{each.name} ({size.label})"
        for each in analysis.memory
        for line in each.lines
        for size, row in zip(each.sizes, line.rows, strict=True)
        if row is not None
    }
    for group in (analysis.programs, analysis.profiles, analysis.behaviour):
        sized |= {each.id: each.name for each in group}
    return sized | {each.id: each.name for each in analysis.comparisons}


def catalogue_order(stacks: set[str]) -> tuple[str, ...]:
    """Stacks as the catalogue has them: dialects stay together. Unknown ones come last."""
    order = list(STACKS)
    return tuple(sorted(stacks, key=lambda s: (order.index(b) if (b := s.partition("@")[0]) in order else 99, s)))


def matrix_row(section: Section, stacks: Sequence[str]) -> MatrixRow:
    """One comparison over all stacks of the set."""
    cells = {cell.stack: cell for cell in section.comparison.cells}
    return MatrixRow(section.comparison.name, section.anchor, tuple(cells.get(stack) for stack in stacks))


def peak_bars(section: Section) -> Bars | None:
    """The greatest peak of each stack by its parts."""
    told = [each for each in section.comparison.stacks if each.peak_parts]
    floor = max((each.floor_bytes for each in told), default=0.0)
    peaks = [(each.stack, each.peak_parts) for each in told]
    return bars(f"{section.anchor}-parts", "Peak of memory by its parts", peaks, KINDS, MEMORY, floor)


def title(analysis: Analysis, set_id: str) -> str:
    """What was asked, if that is short; else the set's name."""
    titles: tuple[tuple[Sequence[Question], str], ...] = (
        (analysis.comparisons, "which stack is fastest"),
        (analysis.memory, "which stack runs out of memory first"),
        (analysis.profiles, "where the time goes"),
        (analysis.programs, "what the stacks hand to their compilers"),
        (analysis.behaviour, "how the stacks behave"),
    )
    questions, asked = next((each for each in titles if each[0]), titles[0])
    words = sorted({each.name.split()[0] for each in questions})
    return f"{', '.join(words)}: {asked}" if 0 < len(words) <= 6 else f"Result set {set_id}"


def facts(results: Results, analysis: Analysis) -> tuple[Fact, ...]:
    """The line under the title."""
    plan, counted = results.plan, analysis.counted
    started = min((str(row["started_at"]) for row in analysis.rows if row["started_at"]), default="")
    when = (started or (plan.created_at if plan else ""))[:16].replace("T", " ")
    asked = [row for row in counted if row["purpose"] not in (Purpose.EXPLAIN, Purpose.PROFILE)] or counted
    ok = sum(row.outcome == Outcome.OK for row in asked)
    shown = {
        "Result set": plan.set_id if plan else results.path.stem,
        "Measured": f"{when} UTC" if when else "",
        "Machine": results.described_machine,
        "Sizes": ", ".join(sorted({row.text("size") for row in counted})),
        "Precision": ", ".join(sorted({precision_words(row) for row in counted})),
        "Target": ", ".join(sorted({row.text("target") for row in counted})),
        "Cores each": ", ".join(map(str, sorted({row["threads"] for row in counted if row["threads"] is not None}))),
        "Processes": f"{ok} ok of {len(asked)} planned",
        "Blocks": str(len(analysis.blocks)) if analysis.comparisons else "",
        "Baseline": analysis.baseline if analysis.comparisons else "",
    }
    return tuple(Fact(name, value) for name, value in shown.items() if value)
