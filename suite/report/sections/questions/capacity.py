"""The section "Memory": which sizes fit, the largest that fits, curves through the peaks, and peaks by their parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from suite import units
from suite.answers.figures.axes import LinearAxis
from suite.answers.figures.bars import KINDS, MEMORY, Bars, bars
from suite.answers.figures.curves import CurveChart, curves, from_top, marks
from suite.answers.sentences import counted, first_of
from suite.case import Outcome
from suite.report.sections.labels import link_target, subtitle
from suite.report.sections.questions.frontier import Frontier, answer, frontier, search_ended
from suite.report.sections.section import AnswerLine, Context, QuestionView, Section, answer_lines
from suite.report.tables import Table, Value
from suite.results.analysis import Analysis
from suite.results.outcomes import outcome_words
from suite.results.questions.capacity import MemoryQuestion, StackCapacity
from suite.results.questions.memory_parts import parts
from suite.sets.rows import Row

CURVE_STEPS = 24  # straight pieces of a drawn curve


@dataclass(frozen=True, slots=True)
class MemoryCell:
    """One stack at one size. `text` is its peak, or its outcome in words; `detail` is the small print below."""

    outcome: str
    text: str
    detail: str
    reason: str


@dataclass(frozen=True, slots=True)
class MemoryView(QuestionView):
    """One question. `axis` is the dim that varies, `answer` the sentence on its largest value that fits; both are empty
    if several dims vary. `searched` says when a stack's search ends; it is empty if all stacks had the same sizes."""

    question: MemoryQuestion
    sizes: tuple[str, ...]
    lines: tuple[tuple[str, tuple[MemoryCell | None, ...]], ...]
    frontier: tuple[Frontier, ...]
    axis: str
    searched: str
    chart: CurveChart | None
    bars: Bars | None


@dataclass(frozen=True, slots=True)
class MemorySection(Section):
    """The questions of memory, by name."""

    views: tuple[MemoryView, ...]

    name = "memory"
    nav = "Memory"
    key = "memory"
    topic = "which stack runs out of memory first"
    terms = ("peak memory", "floor", "inferred", "out of memory")

    @classmethod
    def of(cls, context: Context) -> MemorySection | None:
        """Returns the section; None without a memory process."""
        views = tuple(map(memory_view, context.analysis.memory))
        return cls(views) if views else None

    @property
    def answer(self) -> str:
        """Returns the answer to the first question; if no question has an answer, how many of the cases fit."""
        if answers := self.answers():
            return first_of([line.text for line in answers], "question")
        shown = [cell for view in self.views for _, of_stack in view.lines for cell in of_stack if cell]
        fitting = sum(cell.outcome == Outcome.OK for cell in shown)
        return f"{fitting} of {counted(len(shown), 'case')} fit."

    @classmethod
    def names(cls, analysis: Analysis) -> Mapping[str, str]:
        """Returns a name for each size of a question, since each size is a comparison."""
        return {
            row["comparison_id"]: f"{question.name} ({size.label})"
            for question in analysis.memory
            for line in question.lines
            for size, row in zip(question.sizes, line.rows, strict=True)
            if row is not None
        }

    def answers(self) -> Sequence[AnswerLine]:
        """Returns the largest size that fits, question by question."""
        return answer_lines(self.views)

    def console(self) -> Sequence[Table]:
        """Returns the largest size that fits, a line for each stack; if all stacks had the same sizes, also which of
        these fit."""
        return [table for view in self.views for table in console_tables(view)]

    def lines(self) -> Iterable[Mapping[str, Value]]:
        """Returns a line for each stack and size, in bytes."""
        for view in self.views:
            for line in view.question.lines:
                for size, row in zip(view.question.sizes, line.rows, strict=True):
                    if row is not None:
                        yield {
                            "question": f"{view.name} ({size.label})",
                            "stack": line.stack,
                            "purpose": "memory",
                            "outcome": row.outcome,
                            "reason": row.text("reason"),
                            "ok": int(row.outcome == Outcome.OK),
                            "planned": 1,
                            "peak_bytes": row.peak_bytes,
                            "flags": "; ".join(row.flags),
                        }

    def data(self) -> list[Any]:
        """Returns each question with what each size took, stack by stack."""
        return [memory_json(view) for view in self.views]


def memory_view(question: MemoryQuestion) -> MemoryView:
    """Returns the view of one question."""
    anchor = link_target("m", question.name, question.id)
    return MemoryView(
        name=question.name,
        question=question,
        anchor=anchor,
        answer=answer(question),
        subtitle=subtitle(question.head, without=(question.axis, "size") if question.axis else ()),
        sizes=tuple(size.label for size in question.sizes),
        lines=tuple((line.stack, cells(line)) for line in question.lines),
        frontier=tuple(frontier(line, question.axis) for line in question.lines) if question.axis else (),
        axis=question.axis,
        searched=search_ended(question),
        chart=peak_chart(question, anchor) if question.axis else None,
        bars=bars_at_common_size(question, anchor),
    )


def cells(line: StackCapacity) -> tuple[MemoryCell | None, ...]:
    """Returns the cells of one stack; None for a size that the stack wasn't asked."""
    return tuple(
        cell(row, line.limit, size.floor_bytes) if row is not None else None
        for row, size in zip(line.rows, line.sizes, strict=True)
    )


def cell(row: Row, limit: float | None, floor: float) -> MemoryCell:
    """Returns the cell of one process. If it ended ok, the cell has its peak, with the peak's share of the limit and
    ratio to the floor; if not, its outcome."""
    least = f"floor {units.quantity(floor)}"
    if row.outcome == Outcome.OK:
        peak = row.peak_bytes
        share = f"{units.percent(peak / limit)} of the limit, " if peak and limit else ""
        above = f"{units.digits(peak / floor)} × {least}" if peak and floor else least
        return MemoryCell(row.outcome, units.quantity(peak), share + above, "")
    how = f"{row['provenance']}, {least}" if row["provenance"] not in (None, "measured") else least
    return MemoryCell(row.outcome, outcome_words(row.outcome, row.text("phase")), how, row.text("reason"))


def peak_chart(question: MemoryQuestion, anchor: str) -> CurveChart | None:
    """Returns the chart of all stacks' peaks over the sizes, from zero up, with their curves and the limit; None
    without a peak."""
    drawn = [line for line in question.lines if line.peaks]
    if not drawn:
        return None
    across = LinearAxis.over(sorted({size for line in drawn for size in line.peaks}))
    limit = question.limit
    up = LinearAxis.over([peak for line in drawn for peak in line.peaks.values()] + ([limit] if limit else []))
    unit = units.byte_unit([up.high])
    points = [
        (size, peak, f"{line.stack}, {question.axis} {size:,}: {units.quantity(peak)}")
        for line in drawn
        for size, peak in line.peaks.items()
    ]
    series = {line.stack: (curve_points(line, across, up), curve_words(line, question.axis)) for line in drawn}
    return CurveChart(
        id=f"{anchor}-peaks",
        title=f"Peak over {question.axis}, in {unit.name}{'' if limit is None else '; dashed: the limit'}",
        across_label=f"{question.axis}; a circle is one process",
        across=across.ticks(),
        up=up.ticks(unit),
        curves=curves(series, across, up),
        marks=marks(points, across, up),
        limit=None if limit is None else from_top(up, limit),
    )


def curve_points(line: StackCapacity, across: LinearAxis, up: LinearAxis) -> list[tuple[float, float]]:
    """Returns the part of a stack's curve that is inside the plot; without a curve, its peaks in order of size."""
    curve = line.curve
    if curve is None:
        return sorted(line.peaks.items())
    step = (across.high - curve.since) / CURVE_STEPS
    sizes = [curve.since + step * number for number in range(CURVE_STEPS + 1)]
    inside = [(size, curve.at(size)) for size in sizes if curve.at(size) <= up.high]
    return inside or sorted(line.peaks.items())


def curve_words(line: StackCapacity, axis: str) -> str:
    """Returns `jax_jit: 1.20 GiB at batch 1 to 7.90 GiB at batch 64`."""
    ends = sorted(line.peaks.items())
    words = [f"{units.quantity(peak)} at {axis} {size:,}" for size, peak in (ends[0], ends[-1])]
    return f"{line.stack}: {' to '.join(dict.fromkeys(words))}"


def bars_at_common_size(question: MemoryQuestion, anchor: str) -> Bars | None:
    """Returns the bars of the peaks by their parts, at the size at which most stacks fit; of several such sizes, at the
    largest."""
    fitting = [
        [line.rows[at] for line in question.lines if (row := line.rows[at]) and row.outcome == Outcome.OK]
        for at in range(len(question.sizes))
    ]
    most = max(map(len, fitting), default=0)
    at = max((at for at, rows in enumerate(fitting) if len(rows) == most), default=0)
    peaks = [(row.stack_name, split) for row in fitting[at] if row and (split := parts(row))] if most else []
    size = question.sizes[at]
    title = f"Peak of memory by its parts, {size.label}"
    return bars(f"{anchor}-parts", title, peaks, KINDS, MEMORY, size.floor_bytes, question.limit)


def console_tables(view: MemoryView) -> list[Table]:
    """Returns the tables of one question for the console: which sizes fit, if all stacks were asked the same sizes; and
    the largest size that fits, if one dim varies."""
    sentences = [*filter(None, (view.answer, view.searched))]
    tables = []
    if not view.searched:
        lines = [
            [stack, *(cell.text if cell else units.UNKNOWN for cell in of_stack)] for stack, of_stack in view.lines
        ]
        tables.append(Table(view.name, ["stack", *view.sizes], lines))
    if view.frontier:
        heads = ["stack", "fits", "doesn't fit", "peak", "predicted", "tried"]
        lines = [
            [line.stack, line.fits, line.fails, line.peak, line.predicted, str(line.tried)] for line in view.frontier
        ]
        title = f"{view.name}: the largest {view.axis} that fits"
        tables.append(Table(title, heads, lines, numbers=[heads[1], *heads[3:]], after=sentences))
    return tables


def memory_json(view: MemoryView) -> dict[str, Any]:
    """Returns one question for JSON, in bytes; null for a size that a stack wasn't asked."""
    question = view.question
    return {
        "name": question.name,
        "answer": view.answer or None,
        "vary": question.axis or None,
        "limit_bytes": question.limit,
        "stacks": [
            {
                "stack": line.stack,
                "largest": line.largest,
                "failed": line.failed,
                "found": line.is_found,
                "predicted": line.predicted,
                "processes": line.tried,
                "curve": None if line.curve is None else asdict(line.curve),
                "sizes": [None if row is None else size_json(row) for row in line.rows],
            }
            for line in question.lines
        ],
    }


def size_json(row: Row) -> dict[str, Any]:
    """Returns one size of one stack for JSON."""
    columns = {name: row[name] for name in ("phase", "reason", "provenance")}
    return {"dims": dict(row.case.dims), "outcome": row.outcome, **columns, "peak_bytes": row.peak_bytes}
