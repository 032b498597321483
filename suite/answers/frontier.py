"""The largest size that fits into memory: by trying, and by a curve through the peaks."""

from __future__ import annotations

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.figures.axes import LinearAxis
from suite.answers.figures.figure import POINTS, Figure
from suite.answers.sentences import first_question
from suite.plan.search.bracket import none_larger
from suite.plan.search.capacity import Capacity, MemoryQuestion, memory_of
from suite.results.frame import Frame
from suite.results.outcomes import WORDS
from suite.verdicts.names import slug

CURVE_STEPS = 24  # straight pieces of a drawn curve


@answer(
    "Largest that fits",
    terms=("peak memory", "out of memory"),
    parts="question",
    shown=(
        *("stack", "vary", "largest_size", "failed_size", "failed_in", "why_none", "peak_bytes", "predicted_size"),
        *("processes", "fixed_bytes", "item_bytes", "curve_error", "curve_since"),
    ),
    in_markdown=False,
)
def frontier(frame: Frame) -> Answer | None:
    """The largest size that fits, and the smallest that doesn't. A curve fitted through the peaks predicts the largest
    that fits, the memory of a step without any item, and the memory that the first item adds. Its error is the largest
    relative difference from a peak, unknown where no peak was left to test it."""
    questions = [question for question in memory_of(frame.analysis) if question.axis]
    if not questions:
        return None
    said = {question.name: sentence for question in questions if (sentence := largest(question))}
    return Answer(
        first_question(said) or "No size that was tried fits.",
        pl.DataFrame(
            [line(question, stack) for question in questions for stack in question.stacks], infer_schema_length=None
        ),
        figures=[*map(peak_chart, questions)],
        also=[f"{question.name}: {ends}" for question in questions if (ends := search_ended(question))],
        by_question=said,
    )


def line(question: MemoryQuestion, stack: Capacity) -> dict[str, object]:
    low, high, curve = stack.bracket.low, stack.bracket.high, stack.curve
    is_tested = curve is not None and curve.points > len(curve.coefficients)
    return {
        "question": question.name,
        "stack": stack.stack,
        "vary": question.axis,
        "largest_size": low or None,
        "failed_size": high,
        "failed_in": stack.by_size[high].text("phase") if high is not None else "",
        "why_none": why_none(stack) if high is None else "",
        "peak_bytes": stack.peaks.get(low),
        "predicted_size": stack.predicted,
        "processes": stack.tried,
        "fixed_bytes": curve and curve.fixed_bytes,
        "item_bytes": curve and curve.item_bytes,
        "curve_error": curve.error if curve and is_tested else None,
        "curve_since": curve.since if curve and curve.since > min(stack.peaks) else None,
        "curve_points": curve and curve.points,
        "coefficients": curve and list(curve.coefficients),
        "limit_bytes": question.limit,
        "is_certain": stack.is_found,
    }


def why_none(stack: Capacity) -> str:
    """Returns why there is no size that ran out of memory."""
    if stack.stopped:
        return f"{stack.stopped[0]:,}: {WORDS.get(stack.stopped[1], stack.stopped[1])}"
    low = stack.bracket.low
    return none_larger(stack.by_size[low].case, stack.axis) if low else ""


def largest(question: MemoryQuestion) -> str:
    """Returns `Largest batch that fits: torch_xla 16 to 31. The largest that was tried, 32, fits on jax_jit, …`; empty
    where nothing fits."""
    most = max(stack.bracket.low for stack in question.stacks)
    if not most:
        return ""
    open_ended = [each.stack for each in question.stacks if each.bracket.high is None and each.bracket.low == most]
    known = [f"{each.stack} {in_words(each)}" for each in question.stacks if each.stack not in open_ended]
    sentences = [f"Largest {question.axis} that fits: {', '.join(known)}."] if known else []
    if open_ended:
        stacks = ", ".join(open_ended) if known else "every stack"
        what = "The largest that was tried" if known else f"The largest {question.axis} that was tried"
        sentences.append(f"{what}, {most:,}, fits on {stacks}.")
    return " ".join(sentences)


def in_words(stack: Capacity) -> str:
    """Returns the largest size that fits, or the two sizes between which it lies."""
    low, failed = stack.bracket.low, stack.bracket.high
    if failed == low + 1:
        return f"{low:,}" if low else "none"
    if stack.is_found:
        return f"{low:,} (by its curve)"
    ended = f" ({stack.stopped[0]:,} ended as {stack.stopped[1]})" if stack.stopped else ""
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


def peak_chart(question: MemoryQuestion) -> Figure | None:
    """Returns all stacks' peaks over the sizes, from zero up, with their curves and the limit; None without a peak."""
    drawn = [stack for stack in question.stacks if stack.peaks]
    if not drawn:
        return None
    peaks = pl.DataFrame(
        [
            (stack.stack, size, peak, f"{stack.stack}, {question.axis} {size:,}: {units.quantity(peak)}")
            for stack in drawn
            for size, peak in stack.peaks.items()
        ],
        schema=POINTS,
        orient="row",
    ).with_columns(shape=pl.lit("mark"), kind=pl.lit("crossing"))
    across = LinearAxis.over(peaks["x"])
    up = LinearAxis.over([*peaks["y"], question.limit or 0.0])
    unit = units.byte_unit([up.high])
    curves = [(stack.stack, *at, None) for stack in drawn for at in curve_points(stack, across, up)]
    limit = pl.DataFrame({"y": [question.limit] * bool(question.limit)})
    return Figure(
        id=f"frontier-{slug(question.name)}-peaks",
        title=f"Peak of {question.name} over {question.axis}, in {unit.name}{'; dashed: the limit' * limit.height}",
        names=[stack.stack for stack in drawn],
        marks=[
            limit.with_columns(shape=pl.lit("rule"), kind=pl.lit("one")),
            pl.DataFrame(curves, schema=POINTS, orient="row").with_columns(shape=pl.lit("joined")),
            peaks,
        ],
        across=across,
        ticks=across.ticks(),
        label=f"{question.axis}; a circle is one process",
        up=up,
        up_ticks=up.ticks(unit),
    )


def curve_points(stack: Capacity, across: LinearAxis, up: LinearAxis) -> list[tuple[float, float]]:
    """Returns the part of a stack's curve that is inside the plot; without a curve, its peaks in order of size."""
    curve, peaks = stack.curve, [*stack.peaks.items()]
    if curve is None:
        return [*peaks]
    step = (across.high - curve.since) / CURVE_STEPS
    sizes = [curve.since + step * number for number in range(CURVE_STEPS + 1)]
    return [(size, curve.at(size)) for size in sizes if curve.at(size) <= up.high] or [*peaks]
