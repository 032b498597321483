"""The largest size that fits, in words: a sentence for each question, and a line for each stack."""

from __future__ import annotations

from dataclasses import dataclass

from suite import units
from suite.results.outcomes import WORDS
from suite.results.questions.bracket import none_larger
from suite.results.questions.capacity import MemoryQuestion, StackCapacity


@dataclass(frozen=True, slots=True)
class Frontier:
    """One stack, in words: the largest size that fits, the first that doesn't, and the peak at the largest size.
    `predicted`, `fixed`, `item` and `error` come from the curve through its peaks. `tried` counts the processes."""

    stack: str
    fits: str
    fails: str
    peak: str
    predicted: str
    fixed: str
    item: str
    error: str
    tried: int


def frontier(line: StackCapacity, axis: str) -> Frontier:
    """Returns one stack's line in the table of the largest sizes that fit. `axis` is the dim that varies."""
    curve, bound = line.curve, line.predicted
    return Frontier(
        stack=line.stack,
        fits="none" if line.largest is None else f"{line.largest:,}",
        fails=fails(line, axis),
        peak=units.quantity(line.peaks.get(line.largest or 0)),
        predicted=units.UNKNOWN if bound is None else f"{bound:,}",
        fixed=units.quantity(curve.fixed_bytes) if curve else units.UNKNOWN,
        item=units.quantity(curve.item_bytes) if curve else units.UNKNOWN,
        error=error_words(line),
        tried=line.tried,
    )


def error_words(line: StackCapacity) -> str:
    """Returns the largest relative error of the curve, and the size from which on the curve holds."""
    curve = line.curve
    if curve is None:
        return units.UNKNOWN
    if curve.points <= len(curve.coefficients):
        return "no peak left to test it"
    since = f", from {curve.since:,} on" if line.valued() and curve.since > line.valued()[0][0] else ""
    return f"{units.percent(curve.error)}{since}"


def fails(line: StackCapacity, axis: str) -> str:
    """Returns the first size that doesn't fit, with the phase that ran out of memory; without such a size, why there is
    none. `axis` is the dim that varies."""
    if line.failed is not None:
        return f"{line.failed:,}{f' (phase {line.failed_in})' if line.failed_in else ''}"
    if line.stopped:
        return f"{line.stopped[0]:,}: {WORDS.get(line.stopped[1], line.stopped[1])}"
    largest = next((row.case for size, row in line.valued() if size == line.largest), None)
    return none_larger(largest, axis) if largest else units.UNKNOWN


def answer(question: MemoryQuestion) -> str:
    """Returns `Largest batch that fits: torch_xla 16 to 31. The largest that was tried, 32, fits on jax_jit, …`; empty
    where nothing fits, or where several dims vary."""
    most = max((line.largest or 0 for line in question.lines), default=0)
    if not question.axis or not most:
        return ""
    open_ended = [line.stack for line in question.lines if line.failed is None and line.largest == most]
    known = [f"{line.stack} {bracket(line)}" for line in question.lines if line.stack not in open_ended]
    sentences = [f"Largest {question.axis} that fits: {', '.join(known)}."] if known else []
    if open_ended:
        stacks = ", ".join(open_ended) if known else "every stack"
        what = "The largest that was tried" if known else f"The largest {question.axis} that was tried"
        sentences.append(f"{what}, {most:,}, fits on {stacks}.")
    return " ".join(sentences)


def bracket(line: StackCapacity) -> str:
    """Returns the largest size that fits, or the two sizes between which it lies."""
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
    """Returns a sentence on when the search of a stack ends; empty where all stacks were asked the same sizes."""
    if question.tolerance is None:
        return ""
    near = f"at most {units.percent(question.tolerance)} above the largest that fits"
    within = f", or when the smallest {question.axis} that doesn't fit is {near}" if question.tolerance else ""
    return f"The search ends when the next {question.axis} doesn't fit{within}."
