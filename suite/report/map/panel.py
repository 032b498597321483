"""What lies behind a cell of the map: every process of a stack on a question, and all that is known of them."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from suite import units
from suite.case import Purpose, phase_words
from suite.ir.findings import StackPrograms, findings
from suite.report.figures.axes import LogAxis
from suite.report.figures.bars import KINDS
from suite.report.figures.plots import kind_of
from suite.report.map.remedies import command, remedy
from suite.report.sections.labels import comparison_anchor, link_target, outcome_text, panel_anchor
from suite.report.sections.mkl_note import mkl_note
from suite.report.sections.timed.units import column_units
from suite.report.sections.whole_set.facts import Fact, named_facts
from suite.results.analysis import Analysis, Comparison
from suite.results.outcomes import Cell
from suite.results.questions.programs import ProgramQuestion
from suite.results.stack_figures import StackFigures
from suite.results.store.rows import Row

COLUMNS_MOST = 60  # of a run plot
COLUMNS_LEAST = 12  # of a run plot on the page of a set of many processes, so that the page stays small
COLUMNS_OF_PAGE = 120_000  # of all run plots of a page together, if this leaves each plot its least
HIGH = 100  # the height of a run plot, in its own units


@dataclass(frozen=True, slots=True)
class ProcessMark:
    """The mark of one process's steady median, in percent of the plot."""

    x: float
    y: float
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class RunPlot:
    """The samples of one process in order: the area between the least and the greatest of each column, the line of
    medians, and how many columns are warm-up. The plot is `width` by HIGH."""

    title: str
    area: str
    line: str
    width: int
    warmup: int


@dataclass(frozen=True, slots=True)
class Differences:
    """How the program of a stack's step differs from that of the stack `other`, in sentences. `anchor` is that of all
    programs of the question."""

    other: str
    anchor: str
    sentences: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Panel:
    """What the page shows behind one cell."""

    id: str
    anchor: str
    stack: str
    question: str
    outcome: str
    ending: str
    facts: tuple[Fact, ...]
    marks: tuple[ProcessMark, ...]
    blocks: int
    low: str
    high: str
    runs: tuple[RunPlot, ...]
    differences: Differences | None
    command: str


def panels(analysis: Analysis, machine: Mapping[str, Any], *, planned: bool) -> tuple[Panel, ...]:
    """Returns the panel of every planned cell of a set that was measured on `machine`. A set without its plan doesn't
    say how it was made, so its panels have no command."""
    rows: dict[tuple[str, str], list[Row]] = {}
    for row in analysis.counted:
        if row["purpose"] == Purpose.TIMED:
            rows.setdefault((row["comparison_id"], row.stack_name), []).append(row)
    processes = sum(map(len, rows.values()))
    most = max(COLUMNS_LEAST, min(COLUMNS_MOST, COLUMNS_OF_PAGE // max(1, processes)))
    programs = {question.id: question for question in analysis.programs}
    return tuple(
        panel(
            comparison,
            cell,
            sorted(rows[comparison.id, cell.stack], key=lambda row: row.place),
            most,
            programs.get(comparison.id),
            machine,
            planned=planned,
        )
        for comparison in analysis.comparisons
        for cell in comparison.cells
    )


def panel(
    comparison: Comparison,
    cell: Cell,
    rows: Sequence[Row],
    most: int,
    programs: ProgramQuestion | None,
    machine: Mapping[str, Any],
    *,
    planned: bool,
) -> Panel:
    """Returns the panel of one cell from the rows of its processes, with run plots of at most so many columns. The
    command runs the case beside its baseline, or alone if the case failed."""
    figures = comparison.of(cell.stack)
    seconds = [sample for row in rows for sample in row["synced_seconds"] or ()]
    axis = LogAxis.over([process.seconds for process in figures.processes] if figures else [])
    span = LogAxis.over(seconds)
    return Panel(
        id=panel_anchor(comparison, cell.stack),
        anchor=comparison_anchor(comparison),
        stack=cell.stack,
        question=comparison.name,
        outcome=cell.outcome,
        ending=outcome_text(cell),
        facts=facts(comparison, cell, figures, rows, program(programs, cell.stack), machine),
        marks=marks(figures, axis) if figures else (),
        blocks=len({row["block"] for row in rows}),
        low=units.seconds(axis.low),
        high=units.seconds(axis.high),
        runs=tuple(run_plot(row, span, most) for row in rows if row["synced_seconds"]),
        differences=differences(programs, cell.stack, comparison.baseline) if programs else None,
        command=command(rows[0].case, cell.stack if cell.failed else comparison.baseline) if planned else "",
    )


def facts(
    comparison: Comparison,
    cell: Cell,
    figures: StackFigures | None,
    rows: Sequence[Row],
    programs: StackPrograms | None,
    machine: Mapping[str, Any],
) -> tuple[Fact, ...]:
    """Returns what is known of a cell, in words. The log is a folder of the set, on the machine that ran the
    process."""
    versions = {f"{name} {version}" for row in rows for name, version in row.mapping("versions").items()}
    last = max(rows, key=lambda row: (row["block"], row["replicate"], row["retry"]))
    shown = timing_facts(comparison, figures) if figures else {}
    return named_facts(
        {
            **shown,
            "Why MKL's default path": mkl_note([figures], machine) if figures else "",
            "Processes": f"{cell.ok} ok of {cell.total}",
            "Phase": phase_words(cell.phase) if cell.failed and cell.phase else "",
            "Reason": cell.reason,
            "Remedy": remedy(cell, rows[0].case),
            "Program": program_words(programs) if programs else "",
            "Versions": ", ".join(sorted(versions)),
            "Log": f"logs/{last.attempt_name}, on the machine that ran it" if last["provenance"] == "measured" else "",
        }
    )


def timing_facts(comparison: Comparison, stack: StackFigures) -> dict[str, str]:
    """Returns the times and the memory of a stack, in the units of the question's tables."""
    unit = column_units(comparison)
    interval = units.interval(stack.median.low, stack.median.high, unit.steady)
    speedup = stack.speedup
    ratio = units.estimate(speedup.ratio.value, speedup.ratio.low, speedup.ratio.high) if speedup else ""
    clocks = {
        "dispatch": stack.dispatch,
        "synced": stack.median.value,
        "pipelined": stack.pipelined,
        "to host": stack.fetch,
    }
    parts = [f"{units.quantity(size)} {KINDS[kind]}" for kind, size in stack.peak_parts]
    return {
        "Median of a step": f"{unit.steady(stack.median.value)} {interval}".strip(),
        f"Over {comparison.baseline}": f"{speedup.verdict}, {ratio}" if speedup else "",
        "What to know beside it": speedup.note if speedup else "",
        "First, second run": f"{unit.first(stack.first)}, {unit.second(stack.second)}",
        "Compile time": unit.compile(stack.compile) if stack.compile else "",
        "Clocks": ", ".join(f"{name} {unit.steady(value)}" for name, value in clocks.items() if value is not None),
        "Peak of memory": ": ".join(filter(None, [units.quantity(stack.peak_bytes), ", ".join(parts)]))
        if stack.peak_bytes
        else "",
        "Kernels": stack.kernels,
        "Worst error": f"{units.magnitude(stack.relative_error)} relative" if stack.relative_error is not None else "",
        "Flags": ", ".join(flag.replace("_", " ") + (f" {share}" if share else "") for flag, share in stack.flags),
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


def differences(question: ProgramQuestion, stack: str, baseline: str) -> Differences | None:
    """Returns how a stack's program differs from the baseline's; if XLA compiles no program of the baseline, from that
    of the first other stack. None if XLA doesn't compile this stack's program, or no other's."""
    others = [programs for programs in question.of_xla if programs.stack != stack]
    ours = next((programs for programs in question.of_xla if programs.stack == stack), None)
    if ours is None or not others:
        return None
    other = next((programs for programs in others if programs.stack == baseline), others[0])
    sentences = tuple(finding.text for finding in findings(ours, other))
    return Differences(other.stack, link_target("p", question.name, question.id), sentences)


def marks(figures: StackFigures, axis: LogAxis) -> tuple[ProcessMark, ...]:
    """Returns a mark for each process: its block across, its median up."""
    blocks = sorted({process.block for process in figures.processes})
    placed = []
    for process in figures.processes:
        kind = kind_of(process, counts=figures.counts)
        x = 100 * (blocks.index(process.block) + 0.5) / len(blocks)
        title = f"block {process.block}: {units.seconds(process.seconds)}"
        placed.append(ProcessMark(round(x, 1), round(100 - axis.percent(process.seconds), 1), kind, title))
    return tuple(placed)


def run_plot(row: Row, span: LogAxis, most: int) -> RunPlot:
    """Returns the plot of one process's samples, warm-up included, in at most so many columns. Its places are whole
    numbers, so that it takes less than 4 KB."""
    samples: Sequence[float] = row["synced_seconds"]
    size = math.ceil(len(samples) / most)
    columns = [samples[begin : begin + size] for begin in range(0, len(samples), size)]

    def place(seconds: float) -> int:
        return round(HIGH - span.percent(seconds))

    top = [f"{x} {place(max(column))}" for x, column in enumerate(columns)]
    bottom = [f"{x} {place(min(column))}" for x, column in enumerate(columns)]
    return RunPlot(
        title=f"block {row['block']}{', A/A twin' if row['replicate'] > 1 else ''}: {len(samples)} samples, "
        f"{units.seconds(min(samples))} to {units.seconds(max(samples))}",
        area=f"M{'L'.join([*top, *reversed(bottom)])}Z",
        line=" ".join(f"{x},{place(median(column))}" for x, column in enumerate(columns)),
        width=max(1, len(columns) - 1),
        warmup=math.ceil((row["synced_warmup"] or 0) / size),
    )
