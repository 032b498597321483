"""What a finished run says: per question a table and a sentence, or all of it as JSON."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from suite import results, units
from suite.case import Outcome
from suite.cli.console import print_table
from suite.cli.output import print_json
from suite.machine.description import named
from suite.report.formats.document import document
from suite.report.sections.answers import headlines, standing_in
from suite.report.sections.behaviour import BehaviourSection, behaviour_section
from suite.report.sections.comparison import column_units
from suite.report.sections.memory import MemoryCell, MemorySection, memory_section
from suite.report.sections.outcomes import outcome_text
from suite.report.sections.profiles import ProfileSection, profile_section
from suite.report.sections.programs import ProgramSection, program_section
from suite.results.analysis import Analysis, Comparison
from suite.results.stack_figures import StackFigures
from suite.results.store.result_set import ResultSet
from suite.stats import Estimate

COLOURS = {"faster": "green", "slower": "red", "tie": "cyan", "undecided": "yellow", "baseline": "dim"}


def tell(store: ResultSet, page: Path, code: int, as_json: bool) -> None:
    """The answers of a set, and where everything is, on standard output."""
    loaded = results.load(store.folder)
    analysis = loaded.analysis()
    if as_json:
        print_json(summary(store, loaded, analysis, page, code))
        return
    for comparison, answer in zip(analysis.comparisons, headlines(analysis), strict=True):
        print_comparison(comparison)
        print(f"{answer.text}\n")
    if analysis.speedups and len(analysis.comparisons) > 1:
        print_summary(analysis)
    for of_memory in map(memory_section, analysis.memory):
        print_memory(of_memory)
    for of_programs in map(program_section, analysis.programs):
        print_programs(of_programs)
    for of_time in map(profile_section, analysis.profiles):
        print_profiles(of_time)
    for of_behaviour in map(behaviour_section, analysis.behaviour):
        print_behaviour(of_behaviour)
    print(f"Machine: {named(loaded.machine)} (the page describes all of it)")
    print(f"Results: {store.results_path}\nReport:  {page}")


def print_comparison(comparison: Comparison) -> None:
    """One question: fastest first, what has no times last, with its outcome in place of a verdict."""
    over = f"speedup over {comparison.baseline}"
    columns = ["stack", "median", over, "verdict", "first run", "second run", "average"]
    rows = []
    unit = column_units(comparison)
    for figures in comparison.stacks:
        times = [unit.first(figures.first), unit.second(figures.second), unit.steady(figures.average)]
        median = unit.steady(figures.median.value)
        rows.append([figures.stack, median, speedup_text(figures), verdict_text(figures), *times])
    dash = units.UNKNOWN
    rows += [[cell.stack, dash, dash, outcome_text(cell), dash, dash, dash] for cell in comparison.untimed]
    print_table(comparison.name, columns, rows, numbers=("median", over, *columns[4:]), markup=True)
    if sentence := standing_in(comparison):
        print(sentence)


def verdict_text(figures: StackFigures) -> str:
    """The verdict, or `baseline`; where some process did not end ok that too, and nothing else if none counts."""
    if not figures.counts:
        return outcome_text(figures.cell)
    verdict = figures.speedup.verdict if figures.speedup else units.UNKNOWN
    word = coloured("baseline" if figures.is_baseline else verdict)
    asides = [outcome_text(figures.cell)] if figures.outcome != Outcome.OK else []
    asides += ["two modes"] if figures.has_modes else []
    return f"{word} ({', '.join(asides)})" if asides else word


def print_summary(analysis: Analysis) -> None:
    """Geometric means: over the questions that every stack answered, which rank, and over each one's own."""
    columns = ["stack", "common questions", "its own questions", "of planned"]
    rows = [
        [line.stack, mean_text(line.common), mean_text(line.ratio), f"{line.n_ok} of {line.n}"]
        for line in analysis.summaries
    ]
    shared = max((line.n_common for line in analysis.summaries), default=0)
    title = f"Geometric mean speedup over {analysis.baseline}, {shared} of {len(analysis.comparisons)} questions common"
    print_table(title, columns, rows, numbers=columns[1:3])
    print()


def print_memory(section: MemorySection) -> None:
    """One question of memory: the largest size that fits, a line a stack, and who fits at which size; of a search,
    whose stacks were asked sizes of their own, the page has these."""
    if not section.searched:
        rows = [[stack, *(cell_text(cell) for cell in line)] for stack, line in section.lines]
        print_table(section.name, ["stack", *section.sizes], rows)
        print()
    if section.frontier:
        columns = ["stack", "fits", "doesn't fit", "peak", "predicted", "probes"]
        rows = [
            [line.stack, line.fits, line.fails, line.peak, line.predicted, str(line.tried)] for line in section.frontier
        ]
        title = f"{section.name}: the largest {section.axis} that fits"
        print_table(title, columns, rows, numbers=[name for name in columns if name not in ("stack", "doesn't fit")])
    for sentence in filter(None, (section.answer, section.searched)):
        print(sentence)
    print()


def print_programs(section: ProgramSection) -> None:
    """One question of programs: counts, regions, and how much differs; the page and `./stackwars ir` say what."""
    for title, table in (
        (section.name, section.counts),
        ("How regions were lowered", section.regions),
        ("Kernels that generated code calls", section.generated),
    ):
        if table.stacks and table.rows:
            print_table(title, ["", *table.stacks], [[name, *cells] for name, cells in table.rows])
            print()


def print_profiles(section: ProfileSection) -> None:
    """One question of where the time goes, the fastest stack first."""
    columns = ["stack", "step", "profiled", "by category"]
    rows = [
        [line.stack, line.plain, f"{line.profiled} ({line.cost})", f"{line.shares} {line.missing}".strip()]
        for line in section.lines
    ]
    print_table(section.name, columns, rows, numbers=columns[1:3])
    print()


def print_behaviour(section: BehaviourSection) -> None:
    """One probe: of each aspect which stacks are of which class; the page has what stands behind it."""
    print_table(section.behaviour.title, ["aspect", "observed"], [list(line) for line in section.lines])
    if section.otherwise:
        print(f"Cells that aren't as their framework documents: {section.otherwise}; the page has both.")
    print()


def cell_text(cell: MemoryCell | None) -> str:
    """The peak, or the outcome in a word."""
    return units.UNKNOWN if cell is None else cell.text


def mean_text(mean: Estimate | None) -> str:
    """A geometric mean with its interval; a dash where there is none."""
    return units.estimate(mean.value, mean.low, mean.high) if mean else units.UNKNOWN


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
    """The machine-readable end of a run: paths, and all that the set says."""
    paths = {"set": str(store.folder), "results": str(store.results_path), "report": str(page), "exit_code": code}
    return paths | document(loaded, analysis)
