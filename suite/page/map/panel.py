"""What lies behind a cell of the map: every process of a stack on a question, and all that is known of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from suite import units
from suite.answers.facts import known
from suite.answers.figures.axes import LogAxis
from suite.answers.figures.bars import KINDS
from suite.answers.figures.processes import Mark, RunPlot, ends, marks, run_plot
from suite.case import Purpose, phase_words
from suite.ir.findings import StackPrograms, findings
from suite.order import natural
from suite.page.map.remedies import CellRecipe, cell_recipe, remedy
from suite.page.sections.labels import comparison_anchor, panel_anchor
from suite.page.sections.mkl_note import MklNote, mkl_note
from suite.page.sections.timed.headlines import modes_text
from suite.page.sections.timed.units import Units, column_units
from suite.page.sections.whole_set.asked import code_anchor
from suite.results.analysis import Analysis, Comparison
from suite.results.case_row import CaseRow
from suite.results.questions.programs import ProgramQuestion
from suite.sets.plan import PlanFile
from suite.sets.rows import Row

WORKLOADS = Path(__file__).parents[2] / "workloads"
COLUMNS_MOST = 60  # of a run plot
COLUMNS_LEAST = 12  # of a run plot on the page of a set of many processes, so that the page stays small
COLUMNS_OF_PAGE = 120_000  # of all run plots of a page together, if this leaves each plot its least


@dataclass(frozen=True)
class Panel:
    """What the page shows behind one `cell`. `over` has its question over each baseline that a reader can choose, the
    set's own first, and `rows` are those of its processes, drawn in at most so many `columns`. `file` is the set's
    plan, without which nobody knows how to run the cell again."""

    cell: CaseRow
    over: Mapping[str, Comparison]
    rows: Sequence[Row]
    columns: int
    programs: ProgramQuestion | None
    note: MklNote | None
    file: PlanFile | None

    @property
    def comparison(self) -> Comparison:
        return next(iter(self.over.values()))

    @property
    def stack(self) -> str:
        return self.cell.stack

    @property
    def id(self) -> str:
        return panel_anchor(self.comparison, self.stack)

    @property
    def anchor(self) -> str:
        return comparison_anchor(self.comparison)

    @cached_property
    def units(self) -> Units:
        return column_units(self.comparison)

    @property
    def code(self) -> tuple[str, str]:
        """(name, anchor of its text) of the function of a question file that it ran; empty for others."""
        row = self.rows[0]
        return (row.function, code_anchor(row.text("workload"), row.function)) if row["implementation"] else ("", "")

    @cached_property
    def recipe(self) -> CellRecipe | None:
        return cell_recipe(self.rows, self.cell, self.comparison, self.file) if self.file else None

    @cached_property
    def ratios(self) -> list[tuple[str, str, str]]:
        """Its ratio over each baseline that a reader can choose: the baseline, the stack that the ratio is over, which
        may stand in for it, and the ratio in words. None for a stack without times that count."""
        if not self.cell.counts:
            return []
        return [(baseline, each.baseline, ratio_over(each, self.stack)) for baseline, each in self.over.items()]

    @cached_property
    def axis(self) -> LogAxis:
        return LogAxis.over(self.seconds)

    @property
    def seconds(self) -> list[float]:
        return [process.seconds for process in self.cell.processes]

    @cached_property
    def marks(self) -> Sequence[Mark]:
        return marks(self.cell, self.axis, self.units.steady)

    @cached_property
    def ends(self) -> Sequence[tuple[float, str]]:
        """The least and the greatest of the processes' medians, one if both read the same."""
        return ends(self.seconds, self.axis, self.units.steady) if self.seconds else ()

    @cached_property
    def runs(self) -> list[RunPlot]:
        rows = [row for row in self.rows if row["synced_seconds"]]
        span = LogAxis.over([sample for row in rows for sample in row["synced_seconds"]])
        return [run_plot(row, span, self.columns, self.units.steady) for row in rows]

    @property
    def facts(self) -> dict[str, str]:
        """What is known of the cell, in words. The log is a folder of the set, on the machine that ran the process."""
        cell, rows = self.cell, self.rows
        versions = {f"{name} {version}" for row in rows for name, version in row.mapping("versions").items()}
        last = max(rows, key=lambda row: (row["block"], row["replicate"], row["retry"]))
        of_stack = [each for each in self.programs.stacks if each.stack == self.stack] if self.programs else []
        return known(
            {
                **(timing_facts(cell, self.units) if cell.is_timed else {}),
                "Processes": processes(cell, rows),
                "Two modes": modes_text(cell, self.units.steady) if cell.two_modes else "",
                "Phase": phase_words(cell.phase) if cell.failed and cell.phase else "",
                "Reason": cell.reason,
                "Remedy": remedy(cell, rows[0].case),
                "Program": ", ".join(map(program_words, of_stack)),
                "Versions": ", ".join(sorted(versions, key=natural)),
                "Code": own_code(rows[0]),
                "Log": f"logs/{last.attempt_name}, on the machine that ran it"
                if last["provenance"] == "measured"
                else "",
            }
        )

    @property
    def differences(self) -> list[tuple[list[str], str, list[str]]]:
        """How the stack's program differs from that of each baseline: (baselines, whose program, sentences). If XLA
        compiles no program of a baseline, that of the first other stack is taken; empty if it compiles none of this
        stack's, or of no other."""
        by_stack = {programs.stack: programs for programs in self.programs.of_xla} if self.programs else {}
        ours = by_stack.pop(self.stack, None)
        if ours is None or not by_stack:
            return []
        beside: dict[str, list[str]] = {}
        for baseline, comparison in self.over.items():
            other = comparison.baseline if comparison.baseline in by_stack else next(iter(by_stack))
            beside.setdefault(other, []).append(baseline)
        return [
            (shown, other, [finding.text for finding in findings(ours, by_stack[other])])
            for other, shown in beside.items()
        ]


def panels(
    analysis: Analysis, over_each: Mapping[str, Analysis], machine: Mapping[str, Any], file: PlanFile | None
) -> list[Panel]:
    """Returns the panel of every planned cell of a set that was measured on `machine`. `over_each` has the set's
    analysis over each baseline that a reader can choose."""
    analyses = {analysis.baseline: analysis, **over_each}  # its own first
    rows: dict[tuple[str, str], list[Row]] = {}
    for row in sorted(analysis.counted, key=lambda row: row.place):
        if row["purpose"] == Purpose.TIMED:
            rows.setdefault((row["comparison_id"], row.stack_name), []).append(row)
    columns = max(COLUMNS_LEAST, min(COLUMNS_MOST, COLUMNS_OF_PAGE // max(1, sum(map(len, rows.values())))))
    programs = {question.id: question for question in analysis.programs}
    made = []
    for comparisons in zip(*(over.comparisons for over in analyses.values()), strict=True):
        over, question = dict(zip(analyses, comparisons, strict=True)), comparisons[0]
        note = mkl_note(question, analysis, machine)
        for cell in question.cases:
            of_cell, beside = rows[question.id, cell.stack], note if cell.is_timed else None
            made.append(Panel(cell, over, of_cell, columns, programs.get(question.id), beside, file))
    return made


def own_code(row: Row) -> str:
    """Returns the file of the suite that the process ran; empty for a workload from elsewhere."""
    name, dialect = row.text("workload"), row.text("dialect")
    found = [*WORKLOADS.glob(f"*/{name}/{name}_{dialect}.py")] if name.isidentifier() and dialect.isidentifier() else []
    return str(found[0].relative_to(WORKLOADS.parents[1])) if found else ""


def ratio_over(comparison: Comparison, stack: str) -> str:
    """Returns the ratio of a stack whose times count over the comparison's baseline, in words with its verdict. An
    undecided ratio has its reason before its size."""
    figures = comparison.of(stack)
    if stack == comparison.baseline:
        return "itself"
    if figures is None or figures.speedup is None:
        return "no block pairs the two"
    speedup = figures.speedup
    ratio = units.estimate(speedup.ratio.value, speedup.ratio.low, speedup.ratio.high)
    if speedup.why:
        return f"undecided ({speedup.why}): {ratio}"
    return f"{speedup.verdict}, {ratio}{f'; {speedup.note}' if speedup.note else ''}"


def processes(cell: CaseRow, rows: Sequence[Row]) -> str:
    """Returns `3 ok of 5`; `0 ok of 5: 1 ran, 4 inferred` if some weren't run since another one ended badly."""
    inferred = sum(row["provenance"] == "inferred" for row in rows)
    ran = f": {len(rows) - inferred} ran, {inferred} inferred" if inferred else ""
    return f"{cell.ok} ok of {cell.planned}{ran}"


def timing_facts(stack: CaseRow, unit: Units) -> dict[str, str]:
    interval = units.interval(stack.median_seconds_low, stack.median_seconds_high, unit.steady)
    clocks = {
        "dispatch": stack.dispatch_seconds,
        "synced": stack.steady,
        "pipelined": stack.pipelined_seconds,
        "to host": stack.fetch_seconds,
    }
    parts = [f"{units.quantity(size)} {KINDS[kind]}" for kind, size in stack.peak_parts]
    return {
        "Median of a step": f"{unit.steady(stack.steady)} {interval}".strip(),
        "First, second run": f"{unit.first(stack.first_seconds)}, {unit.second(stack.second_seconds)}",
        "Compile time": unit.compile(stack.compile_seconds) if stack.compile_seconds else "",
        "Clocks": ", ".join(f"{name} {unit.steady(value)}" for name, value in clocks.items() if value is not None),
        "Peak of memory": ": ".join(filter(None, [units.quantity(stack.peak_bytes), ", ".join(parts)]))
        if stack.peak_bytes
        else "",
        "Kernels": stack.kernels,
        "Worst error": f"{units.magnitude(stack.relative_error)} relative" if stack.relative_error is not None else "",
    }


def program_words(programs: StackPrograms) -> str:
    """Returns `1,204 operations handed to the compiler, 310 run once compiled`; for generated code, the number of its
    kernels."""
    step = programs.step
    if not step.contents:
        return f"{sum((step.kernels or {}).values()):,} kernels called by the generated code"
    compiled = f", {step.compiled.kernels:,} run once compiled" if step.compiled else ""
    return f"{step.contents.size:,} operations handed to the compiler{compiled}"
