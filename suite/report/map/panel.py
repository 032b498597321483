"""What lies behind a cell of the map: every process of a stack on a question, and all that is known of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite import units
from suite.answers.facts import known
from suite.answers.figures.axes import LogAxis, Mark
from suite.answers.figures.bars import KINDS
from suite.answers.figures.processes import RunPlot, ends, marks, run_plot
from suite.case import Purpose, phase_words
from suite.ir.findings import StackPrograms, findings
from suite.report.map.remedies import CellRecipe, HowMade, cell_recipe, remedy
from suite.report.sections.labels import comparison_anchor, panel_anchor
from suite.report.sections.mkl_note import MklNote, mkl_note
from suite.report.sections.timed.headlines import modes_text
from suite.report.sections.timed.units import column_units
from suite.report.sections.whole_set.asked import code_anchor
from suite.results.analysis import Analysis, Comparison
from suite.results.outcomes import Cell, outcome_text
from suite.results.questions.programs import ProgramQuestion
from suite.results.stack_figures import StackFigures
from suite.sets.rows import Row

WORKLOADS = Path(__file__).parents[2] / "workloads"
COLUMNS_MOST = 60  # of a run plot
COLUMNS_LEAST = 12  # of a run plot on the page of a set of many processes, so that the page stays small
COLUMNS_OF_PAGE = 120_000  # of all run plots of a page together, if this leaves each plot its least


@dataclass(frozen=True, slots=True)
class Differences:
    """How the program of a stack's step differs from that of the stack `other`, in sentences, which the page shows with
    the baselines `over`."""

    over: tuple[str, ...]
    other: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RatioOver:
    """The ratio of a steady step over one baseline that a reader can choose, in words with its verdict. `by` is the
    stack that the ratio is over: the `baseline`, or the stack that stands in for it on this question."""

    baseline: str
    by: str
    words: str

    @property
    def name(self) -> str:
        """Returns `numpy`, or `numpy (jax_jit in its place)`."""
        return self.baseline if self.by == self.baseline else f"{self.baseline} ({self.by} in its place)"


@dataclass(frozen=True, slots=True)
class Panel:
    """What the page shows behind one cell. `ratios` are those over each baseline that a reader can choose, the set's
    own first; empty for a stack without times that count. `ends` are the least and the greatest of the processes'
    medians, one if both read the same. `recipe` runs the cell again; None if that is unknown. `code` has the name of a
    question's function and the anchor of its text."""

    id: str
    anchor: str
    stack: str
    question: str
    code: tuple[str, str]
    outcome: str
    ending: str
    facts: Mapping[str, str]
    flags: tuple[tuple[str, str], ...]
    ratios: tuple[RatioOver, ...]
    marks: tuple[Mark, ...]
    blocks: int
    ends: tuple[tuple[float, str], ...]
    runs: tuple[RunPlot, ...]
    differences: tuple[Differences, ...]
    recipe: CellRecipe | None
    mkl_note: MklNote | None


def panels(analyses: Mapping[str, Analysis], machine: Mapping[str, Any], made_by: HowMade | None) -> tuple[Panel, ...]:
    """Returns the panel of every planned cell of a set that was measured on `machine`. `analyses` has the set's
    analysis over each baseline that a reader can choose, its own first. `made_by` says how the set was made: it is None
    for a set without its plan, whose panels have no command."""
    analysis = next(iter(analyses.values()))
    rows: dict[tuple[str, str], list[Row]] = {}
    for row in analysis.counted:
        if row["purpose"] == Purpose.TIMED:
            rows.setdefault((row["comparison_id"], row.stack_name), []).append(row)
    processes = sum(map(len, rows.values()))
    most = max(COLUMNS_LEAST, min(COLUMNS_MOST, COLUMNS_OF_PAGE // max(1, processes)))
    programs = {question.id: question for question in analysis.programs}
    by_question = zip(*(over.comparisons for over in analyses.values()), strict=True)
    return tuple(
        panel(
            dict(zip(analyses, comparisons, strict=True)),
            cell,
            sorted(rows[comparisons[0].id, cell.stack], key=lambda row: row.place),
            most,
            programs.get(comparisons[0].id),
            note,
            made_by,
        )
        for comparisons in by_question
        for note in [mkl_note(comparisons[0], analysis, machine)]
        for cell in comparisons[0].cells
    )


def panel(
    over: Mapping[str, Comparison],
    cell: Cell,
    rows: Sequence[Row],
    most: int,
    programs: ProgramQuestion | None,
    note: MklNote | None,
    made_by: HowMade | None,
) -> Panel:
    """Returns the panel of one cell from the rows of its processes, with run plots of at most so many columns. `over`
    has the question over each baseline, the set's own first."""
    comparison = next(iter(over.values()))
    figures = comparison.of(cell.stack)
    unit = column_units(comparison).steady
    seconds = [sample for row in rows for sample in row["synced_seconds"] or ()]
    axis = LogAxis.over([process.seconds for process in figures.processes] if figures else [])
    span = LogAxis.over(seconds)
    return Panel(
        id=panel_anchor(comparison, cell.stack),
        anchor=comparison_anchor(comparison),
        stack=cell.stack,
        question=comparison.name,
        code=code(rows[0]),
        outcome=cell.outcome,
        ending=outcome_text(cell),
        facts=facts(comparison, cell, figures, rows, program(programs, cell.stack)),
        flags=figures.flags if figures else (),
        ratios=tuple(ratio_over(baseline, each, cell.stack) for baseline, each in over.items()) if cell.counts else (),
        marks=marks(figures, axis, unit) if figures else (),
        blocks=len({row["block"] for row in rows}),
        ends=ends([process.seconds for process in figures.processes], axis, unit) if figures else (),
        runs=tuple(run_plot(row, span, most, unit) for row in rows if row["synced_seconds"]),
        differences=differences(programs, cell.stack, over) if programs else (),
        recipe=cell_recipe(rows, cell, comparison, made_by) if made_by else None,
        mkl_note=note if figures else None,
    )


def code(row: Row) -> tuple[str, str]:
    """Returns (name, anchor of its text) of the function of a question file that a process ran; empty for others."""
    function = f"{row.text('dialect')}_{row.text('implementation')}"
    return (function, code_anchor(row.text("workload"), function)) if row["implementation"] else ("", "")


def own_code(row: Row) -> str:
    """Returns the file of the suite that the process ran; empty for a workload from elsewhere."""
    name, dialect = row.text("workload"), row.text("dialect")
    found = [*WORKLOADS.glob(f"*/{name}/{name}_{dialect}.py")] if name.isidentifier() and dialect.isidentifier() else []
    return str(found[0].relative_to(WORKLOADS.parents[1])) if found else ""


def ratio_over(baseline: str, comparison: Comparison, stack: str) -> RatioOver:
    """Returns the ratio of a stack whose times count over one baseline, in words. An undecided ratio has its reason
    before its size."""
    figures = comparison.of(stack)
    if stack == comparison.baseline:
        words = "itself"
    elif figures is None or figures.speedup is None:
        words = "no block pairs the two"
    else:
        speedup = figures.speedup
        ratio = units.estimate(speedup.ratio.value, speedup.ratio.low, speedup.ratio.high)
        note = f"; {speedup.note}" if speedup.note and not speedup.why else ""
        words = f"undecided ({speedup.why}): {ratio}" if speedup.why else f"{speedup.verdict}, {ratio}{note}"
    return RatioOver(baseline, comparison.baseline, words)


def facts(
    comparison: Comparison,
    cell: Cell,
    figures: StackFigures | None,
    rows: Sequence[Row],
    programs: StackPrograms | None,
) -> dict[str, str]:
    """Returns what is known of a cell, in words. The log is a folder of the set, on the machine that ran the
    process."""
    versions = {f"{name} {version}" for row in rows for name, version in row.mapping("versions").items()}
    last = max(rows, key=lambda row: (row["block"], row["replicate"], row["retry"]))
    shown = timing_facts(comparison, figures) if figures else {}
    return known(
        {
            **shown,
            "Processes": processes(cell, rows),
            "Two modes": modes_text(figures, column_units(comparison).steady) if figures and figures.has_modes else "",
            "Phase": phase_words(cell.phase) if cell.failed and cell.phase else "",
            "Reason": cell.reason,
            "Remedy": remedy(cell, rows[0].case),
            "Program": program_words(programs) if programs else "",
            "Versions": ", ".join(sorted(versions)),
            "Code": own_code(rows[0]),
            "Log": f"logs/{last.attempt_name}, on the machine that ran it" if last["provenance"] == "measured" else "",
        }
    )


def processes(cell: Cell, rows: Sequence[Row]) -> str:
    """Returns `3 ok of 5`; `0 ok of 5: 1 ran, 4 inferred` if some weren't run since another one ended badly."""
    inferred = sum(row["provenance"] == "inferred" for row in rows)
    ran = f": {len(rows) - inferred} ran, {inferred} inferred" if inferred else ""
    return f"{cell.ok} ok of {cell.total}{ran}"


def timing_facts(comparison: Comparison, stack: StackFigures) -> dict[str, str]:
    """Returns the times and the memory of a stack, in the units of the question's tables."""
    unit = column_units(comparison)
    interval = units.interval(stack.median.low, stack.median.high, unit.steady)
    clocks = {
        "dispatch": stack.dispatch,
        "synced": stack.median.value,
        "pipelined": stack.pipelined,
        "to host": stack.fetch,
    }
    parts = [f"{units.quantity(size)} {KINDS[kind]}" for kind, size in stack.peak_parts]
    return {
        "Median of a step": f"{unit.steady(stack.median.value)} {interval}".strip(),
        "First, second run": f"{unit.first(stack.first)}, {unit.second(stack.second)}",
        "Compile time": unit.compile(stack.compile) if stack.compile else "",
        "Clocks": ", ".join(f"{name} {unit.steady(value)}" for name, value in clocks.items() if value is not None),
        "Peak of memory": ": ".join(filter(None, [units.quantity(stack.peak_bytes), ", ".join(parts)]))
        if stack.peak_bytes
        else "",
        "Kernels": stack.kernels,
        "Worst error": f"{units.magnitude(stack.relative_error)} relative" if stack.relative_error is not None else "",
    }


def program(question: ProgramQuestion | None, stack: str) -> StackPrograms | None:
    """Returns the programs that a stack hands to its compiler on a question; None if no process kept them."""
    return next((programs for programs in question.stacks if programs.stack == stack), None) if question else None


def program_words(programs: StackPrograms) -> str:
    """Returns `1,204 operations handed to the compiler, 310 run once compiled`; for generated code, the number of its
    kernels."""
    step = programs.step
    if not step.contents:
        return f"{sum((step.kernels or {}).values()):,} kernels called by the generated code"
    compiled = f", {step.compiled.kernels:,} run once compiled" if step.compiled else ""
    return f"{step.contents.size:,} operations handed to the compiler{compiled}"


def differences(question: ProgramQuestion, stack: str, over: Mapping[str, Comparison]) -> tuple[Differences, ...]:
    """Returns how a stack's program differs from that of each baseline; if XLA compiles no program of a baseline, from
    that of the first other stack. Empty if XLA doesn't compile this stack's program, or no other's."""
    others = {programs.stack: programs for programs in question.of_xla if programs.stack != stack}
    ours = next((programs for programs in question.of_xla if programs.stack == stack), None)
    if ours is None or not others:
        return ()
    beside = defaultdict[str, list[str]](list)
    for baseline, comparison in over.items():
        beside[comparison.baseline if comparison.baseline in others else next(iter(others))].append(baseline)
    return tuple(
        Differences(tuple(shown), other, tuple(finding.text for finding in findings(ours, others[other])))
        for other, shown in beside.items()
    )
