"""Memory as the page shows it: a grid of who fits at which size, curves through the peaks, and peaks by their parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from suite import units
from suite.case import Outcome
from suite.report.figures.axes import LinearAxis, Tick
from suite.report.figures.bars import KINDS, MEMORY, Bars, bars
from suite.report.sections.comparison import link_target, subtitle
from suite.report.sections.outcomes import WITHOUT_PHASE, WORDS
from suite.results.questions.capacity import Line, MemoryQuestion
from suite.results.questions.memory_parts import parts
from suite.results.store.rows import Row


@dataclass(frozen=True, slots=True)
class MemoryCell:
    """One stack at one size: its outcome in a word, the peak or where it ran out, and what to know beside it."""

    outcome: str
    text: str
    detail: str
    reason: str


@dataclass(frozen=True, slots=True)
class Frontier:
    """One stack's largest size that fits and the first that doesn't, as tried; and what its curve says."""

    stack: str
    fits: str
    fails: str
    peak: str
    predicted: str
    fixed: str
    item: str
    error: str
    tried: int


@dataclass(frozen=True, slots=True)
class Chart:
    """One stack's peaks over the sizes: points and curve in percent of the plot, from the lower left."""

    stack: str
    points: tuple[tuple[float, float, str], ...]
    curve: str
    description: str


@dataclass(frozen=True, slots=True)
class MemorySection:
    """One question: its grid, frontier and figures."""

    name: str
    anchor: str
    answer: str  # empty where no one dim varies
    subtitle: str
    sizes: tuple[str, ...]
    lines: tuple[tuple[str, tuple[MemoryCell | None, ...]], ...]
    frontier: tuple[Frontier, ...]
    axis: str
    searched: str  # when each stack's search ended; empty where all were asked the same sizes
    charts: tuple[Chart, ...]
    chart_ticks: tuple[tuple[Tick, ...], tuple[Tick, ...]]
    chart_unit: str
    chart_limit: float | None
    bars: Bars | None


def memory_section(question: MemoryQuestion) -> MemorySection:
    """The section of a question."""
    anchor = link_target("m", question.name, question.id)
    drawn = [line for line in question.lines if line.peaks]
    across, up = axes(question, drawn)
    return MemorySection(
        name=question.name,
        anchor=anchor,
        answer=answer(question),
        subtitle=subtitle(question.head, without=(question.axis, "size") if question.axis else ()),
        sizes=tuple(size.label for size in question.sizes),
        lines=tuple((line.stack, cells(line)) for line in question.lines),
        frontier=tuple(map(frontier, question.lines)) if question.axis else (),
        axis=question.axis,
        searched=search_ended(question),
        charts=tuple(chart(line, question.axis, across, up) for line in drawn) if question.axis else (),
        chart_ticks=(across.ticks(), up.ticks(units.byte_unit([up.high]))),
        chart_unit=units.byte_unit([up.high]).name,
        chart_limit=up.x(question.limit) if question.limit is not None else None,
        bars=bars_at_common_size(question, anchor),
    )


def answer(question: MemoryQuestion) -> str:
    """`Largest batch that fits: torch_xla 16 to 31. The largest that was tried, 32, fits on jax_jit, …`"""
    most = max((line.largest or 0 for line in question.lines), default=0)
    if not question.axis or not most:
        return ""
    open_ended = [line.stack for line in question.lines if line.failed is None and line.largest == most]
    known = [f"{line.stack} {bracket(line)}" for line in question.lines if line.stack not in open_ended]
    sentences = [f"Largest {question.axis} that fits: {', '.join(known)}."] if known else []
    if open_ended:
        whom = ", ".join(open_ended) if known else "every stack"
        what = "The largest that was tried" if known else f"The largest {question.axis} that was tried"
        sentences.append(f"{what}, {most:,}, fits on {whom}.")
    return " ".join(sentences)


def bracket(line: Line) -> str:
    """What is known of the largest size that fits: itself, or between which sizes it lies."""
    low, failed = line.largest or 0, line.failed
    if failed == low + 1:
        return f"{low:,}" if low else "none"
    if line.is_found:
        return f"{low:,} (by its curve)"
    ended = f" ({line.stopped[0]:,} ended as {line.stopped[1]})" if line.stopped else ""
    if failed is not None:
        return f"{low:,} to {failed - 1:,}{ended}"
    return f"{low:,} or more{ended or ' (no larger one was tried)'}"


def search_ended(question: MemoryQuestion) -> str:
    """When the search of each stack was over, as a sentence."""
    if question.tolerance is None:
        return ""
    within = f", or the first that doesn't was within {units.percent(question.tolerance)} of the largest that does"
    return f"Searched until the next {question.axis} didn't fit{within if question.tolerance else ''}."


def cells(line: Line) -> tuple[MemoryCell | None, ...]:
    """Every size of one stack."""
    return tuple(
        cell(row, line.limit, size.floor_bytes) if row is not None else None
        for row, size in zip(line.rows, line.sizes, strict=True)
    )


def cell(row: Row, limit: float | None, floor: float) -> MemoryCell:
    """A peak with its share of the limit and how many floors it is; else the outcome, and where."""
    least = f"floor {units.quantity(floor)}"
    if row.outcome == Outcome.OK:
        peak = row.peak_bytes
        share = f"{units.percent(peak / limit)} of the limit, " if peak and limit else ""
        above = f"{units.digits(peak / floor)} × {least}" if peak and floor else least
        return MemoryCell(row.outcome, units.quantity(peak), share + above, "")
    where = f" in {row['phase']}" if row["phase"] and row.outcome not in WITHOUT_PHASE else ""
    how = f"{row['provenance']}, {least}" if row["provenance"] not in (None, "measured") else least
    return MemoryCell(row.outcome, WORDS.get(row.outcome, row.outcome) + where, how, row.text("reason"))


def frontier(line: Line) -> Frontier:
    """What is known of the largest size that fits."""
    curve, bound = line.curve, line.predicted
    return Frontier(
        stack=line.stack,
        fits="none" if line.largest is None else f"{line.largest:,}",
        fails=fails(line),
        peak=units.quantity(line.peaks.get(line.largest or 0)),
        predicted=units.UNKNOWN if bound is None else f"{bound:,}",
        fixed=units.quantity(curve.fixed_bytes) if curve else units.UNKNOWN,
        item=units.quantity(curve.item_bytes) if curve else units.UNKNOWN,
        error=error_words(line),
        tried=line.tried,
    )


def error_words(line: Line) -> str:
    """How far the curve is from the peaks that were seen, and from which size on."""
    curve = line.curve
    if curve is None:
        return units.UNKNOWN
    if curve.points <= len(curve.coefficients):
        return "no peak left to test it"
    since = f", from {curve.since:,} on" if line.valued() and curve.since > line.valued()[0][0] else ""
    return f"{units.percent(curve.error)}{since}"


def fails(line: Line) -> str:
    """The first size that doesn't fit, and where it ran out of memory; else what ended the search."""
    if line.failed is not None:
        return f"{line.failed:,}: out{f' in {line.failed_in}' if line.failed_in else ''}"
    if line.stopped:
        return f"{line.stopped[0]:,}: {WORDS.get(line.stopped[1], line.stopped[1])}"
    return "none tried" if line.largest is not None else units.UNKNOWN


def axes(question: MemoryQuestion, lines: Sequence[Line]) -> tuple[LinearAxis, LinearAxis]:
    """Sizes and bytes, from zero to the largest that was seen, and to the limit."""
    seen = [line.peaks for line in lines]
    sizes = sorted({size for peaks in seen for size in peaks})
    most = [peak for peaks in seen for peak in peaks.values()] + ([question.limit] if question.limit else [])
    return LinearAxis.over(sizes), LinearAxis.over(most)


def chart(line: Line, axis: str, across: LinearAxis, up: LinearAxis) -> Chart:
    """One stack's peaks with its curve."""
    peaks = line.peaks
    marks = tuple(
        (across.x(size), up.x(peak), f"{line.stack}, {axis} {size:,}: {units.quantity(peak)}")
        for size, peak in peaks.items()
    )
    drawn = ""
    if line.curve is not None:
        steps = [line.curve.since + (across.high - line.curve.since) * k / 24 for k in range(25)]
        inside = [(size, line.curve.at(size)) for size in steps if line.curve.at(size) <= up.high]
        drawn = " ".join(f"{across.x(size)},{round(100 - up.x(peak), 2)}" for size, peak in inside)
    return Chart(line.stack, marks, drawn, "; ".join(words for _, _, words in marks))


def bars_at_common_size(question: MemoryQuestion, anchor: str) -> Bars | None:
    """The peaks by their parts, at the largest size of those at which the most stacks fit."""
    fitting = [
        [line.rows[at] for line in question.lines if (row := line.rows[at]) and row.outcome == Outcome.OK]
        for at in range(len(question.sizes))
    ]
    most = max(map(len, fitting), default=0)
    at = max((at for at, rows in enumerate(fitting) if len(rows) == most), default=0)
    found = [(row.stack_name, split) for row in fitting[at] if row and (split := parts(row))] if most else []
    size = question.sizes[at]
    title = f"Peak of memory by its parts, {size.label}"
    return bars(f"{anchor}-parts", title, found, KINDS, MEMORY, size.floor_bytes, question.limit)
