"""The largest size that fits into memory: by trying, and by a curve through the peaks."""

from __future__ import annotations

import math

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.figures.axes import LinearAxis
from suite.answers.figures.bars import bars
from suite.answers.figures.figure import POINTS, Figure
from suite.answers.sentences import capital, first_question, listed
from suite.plan.search.bracket import none_larger
from suite.plan.search.capacity import Capacity, MemoryQuestion, memory_of
from suite.results.frame import Frame
from suite.results.outcomes import WORDS
from suite.verdicts.names import slug

CURVE_STEPS = 24  # straight pieces of a drawn curve


class Whole(units.Unit):
    """A unit of what is counted."""

    def __call__(self, value: float | None) -> str:
        return f"{value:,.0f}"


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
            [line(question, stack) for question in questions for stack in ranked(question)], infer_schema_length=None
        ),
        figures=[figure for question in questions for figure in (size_bars(question), peak_chart(question))],
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


def ranked(question: MemoryQuestion) -> list[Capacity]:
    """Returns the stacks, that with the largest size that fits first."""
    return sorted(question.stacks, key=lambda stack: (-stack.bracket.low, stack.stack))


def largest(question: MemoryQuestion) -> str:
    """Returns `Under 6 GiB torch_inductor fits the largest batch: 79; torch_eager fits 53 and tf_xla 49.` It is
    open which does if another stack may fit as much; empty where nothing fits."""
    stacks = ranked(question)
    most = stacks[0].bracket.low
    if not most:
        return ""
    first = [stack for stack in stacks if stack.bracket.low == most]
    others = [stack for stack in stacks if stack not in first]
    limit = f"under {units.quantity(question.limit).replace('.00 ', ' ')} " if question.limit else ""
    names, verb = listed([stack.stack for stack in first]), "fits" if len(first) == 1 else "fit"
    if all(stack.bracket.high is None and not stack.stopped for stack in first):
        who = names if others else "every stack"
        said = f"{limit}the largest {question.axis} that was tried, {most:,}, fits on {who}"
    elif (len(first) == 1 or all(furthest(stack) == most for stack in first)) and all(
        furthest(stack) < most for stack in others if stack.bracket.low or not stack.stopped
    ):
        said = f"{limit}{names} {verb} the largest {question.axis}: {in_words(first[0])}"
    else:
        others = stacks
        said = f"{limit}it is open which stack fits the largest {question.axis}"
    each = ", ".join(f"{stack.stack} fits {in_words(stack)}" for stack in others)
    begins = said if said.startswith(tuple(stack.stack for stack in stacks)) else capital(said)
    return f"{begins}{f'; {each}' if each else ''}."


def furthest(stack: Capacity) -> float:
    """Returns the largest size that may fit."""
    if stack.is_found:
        return stack.bracket.low
    return math.inf if stack.bracket.high is None else stack.bracket.high - 1


def in_words(stack: Capacity) -> str:
    """Returns the largest size that fits, or the two sizes between which it lies."""
    low, failed = stack.bracket.low, stack.bracket.high
    if failed == low + 1:
        return f"{low:,}" if low else "none"
    if stack.is_found:
        return f"{low:,} (by its curve)"
    ended = f" (its search failed: {stack.stopped[0]:,} ended as {stack.stopped[1]})" if stack.stopped else ""
    if failed is not None:
        return f"{low:,} to {failed - 1:,}{ended}"
    return f"{low:,} or more{ended or ' (no larger one was tried)'}" if low else f"none{ended}"


def search_ended(question: MemoryQuestion) -> str:
    """Returns a sentence on when the search of a stack ends; empty where all stacks were asked the same sizes."""
    if question.tolerance is None:
        return ""
    near = f"at most {units.percent(question.tolerance)} above the largest that fits"
    within = f", or when the smallest {question.axis} that doesn't fit is {near}" if question.tolerance else ""
    return f"The search ends when the next {question.axis} doesn't fit{within}."


def size_bars(question: MemoryQuestion) -> Figure | None:
    """Returns a bar for each stack up to the largest size that fits, and on to the largest that may fit, if it ran out
    of memory later."""
    sizes = [
        (stack.stack, (("base", low), *([("placing", more)] if 0 < (more := furthest(stack) - low) < math.inf else [])))
        for stack in ranked(question)
        if (low := stack.bracket.low)
    ]
    title = f"Largest {question.axis} of {question.name} that fits"
    kinds = {"base": "fits", "placing": "not tried, may fit"}
    return bars(f"frontier-{slug(question.name)}-sizes", title, sizes, kinds, lambda _: Whole(question.axis, 1.0))


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
