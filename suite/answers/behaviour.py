"""What probes observed of each stack, aspect by aspect, and where one stack alone differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from itertools import chain
from statistics import median

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer, in_csv
from suite.answers.figures.axes import LogAxis
from suite.answers.figures.curves import CurveChart, curves, marks
from suite.answers.sentences import capital, counted, listed
from suite.case import Purpose
from suite.results.frame import Frame
from suite.results.names import slug
from suite.results.questions.behaviour import Figure, Observation, observations
from suite.results.questions.grouping import grouped

SCALES = ("depths", "sizes")  # figures that a chart has across; the figure `seconds` has a time for each value of them
SHOWN = ("depth", "per_op", "seconds", "factor", "share")  # the grid shows the first of these figures that a cell has


@answer(
    "Behaviour",
    terms=("behaviour",),
    parts="probe",
    across="stack",
    shown=("class", "differs", "alone", "figure"),
    topic="how the stacks behave",
    purpose=Purpose.PROBE,
)
def behaviour(frame: Frame) -> Answer | None:
    """Each cell shows what a separate process observed. A click on it shows the code that ran, the figures and the
    framework's documentation. ≠ marks an observation that differs from the documentation, or from the primer, the text
    that this project grew from. A stack stands *alone* if all others agree."""
    aspects = [*grouped(observations(frame.analysis.counted), lambda each: (each.probe, each.aspect)).values()]
    if not aspects:
        return None
    odd = [odd_one({each.stack: each.class_ for each in aspect}) for aspect in aspects]
    table = pl.DataFrame(
        [line(each, stack) for aspect, stack in zip(aspects, odd, strict=True) for each in aspect],
        infer_schema_length=None,
    )
    alone = Counter(filter(None, odd))
    of = f"of {counted(len(aspects), 'aspect')} one stack alone differs"
    stacks = listed([f"{stack} {number}" for stack, number in alone.most_common()])
    otherwise = sum(each.is_otherwise for aspect in aspects for each in aspect)
    documented = f"; {counted(otherwise, 'cell')} not as documented" if otherwise else ""
    return Answer(
        f"{capital(f'in {alone.total()} {of} ({stacks})' if alone else f'in none {of}')}{documented}.",
        table,
        figures=[drawn for aspect in aspects if (drawn := chart(aspect))],
        lines=in_csv(table.with_columns(pl.col("class").alias("verdict"), verdict_reason="words"), Purpose.PROBE),
    )


def odd_one(classes: Mapping[str, str]) -> str:
    """Returns the stack that differs from all others, if these agree; empty without such a stack, or where fewer than
    three stacks were observed."""
    numbers = Counter(classes.values())
    if len(numbers) != 2 or len(classes) < 3:
        return ""
    return next((stack for stack, class_ in classes.items() if numbers[class_] == 1), "")


def line(seen: Observation, odd: str) -> dict[str, object]:
    in_grid = next((middle(name, seen.figures[name]) for name in SHOWN if name in seen.figures), "")
    pages = {"documented": seen.documented, "the primer": seen.primer}
    differs = " and ".join(page for page, stated in pages.items() if seen.differs(stated))
    return {
        "probe": f"{seen.probe_title} ({seen.probe})",
        "aspect_title": seen.aspect_title,
        "stack": seen.stack,
        "class": seen.class_,
        "alone": "alone" if seen.stack == odd else "",
        "differs": f"≠ {differs}" if differs else "",
        "figure": in_grid,
        "words": seen.words,
        "documented": seen.documented.get("class", ""),
        "documented_page": seen.documented.get("page", ""),
        "primer": seen.primer.get("class", ""),
        "primer_page": seen.primer.get("page", ""),
        "figures": [
            {"figure": name, "in_words": spread(name, figure), "unit": figure[0], "values": list(map(float, figure[1]))}
            for name, figure in seen.figures.items()
        ],
        "code": seen.code,
        "question": f"{seen.probe}: {seen.aspect_title}",
        "aspect": seen.aspect,
        "outcome": seen.row.outcome,
        "reason": seen.row.text("reason"),
    }


def chart(aspect: Sequence[Observation]) -> CurveChart | None:
    """Returns the chart of an aspect's times over a size, a line for each stack, on logarithmic axes; None where no
    stack was timed over sizes."""
    times = {
        each.stack: [*zip(each.figures[name][1], each.figures["seconds"][1], strict=True)]
        for each in aspect
        for name in SCALES
        if name in each.figures
    }
    if not times:
        return None
    across = LogAxis.over([size for points in times.values() for size, _ in points])
    up = LogAxis.over([seconds for points in times.values() for _, seconds in points])
    unit = units.time_unit([up.high])
    points = {
        stack: [(size, seconds, f"{stack}, {size:,.0f}: {units.seconds(seconds)}") for size, seconds in of_stack]
        for stack, of_stack in times.items()
    }
    words = {stack: "; ".join(text for *_, text in of_stack) for stack, of_stack in points.items()}
    first = aspect[0]
    return CurveChart(
        id=f"behaviour-{slug(f'{first.probe} {first.aspect}')}-times",
        title=f"{first.aspect_title}, in {unit.name}",
        across_label="size, log scale; time on a log scale, too",
        across=across.ticks(),
        up=up.ticks(unit),
        curves=curves({stack: (of_stack, words[stack]) for stack, of_stack in times.items()}, across, up),
        marks=marks(chain.from_iterable(points.values()), across, up),
    )


def middle(name: str, figure: Figure) -> str:
    """Returns the median of a figure's values: `12.3 ms`."""
    return in_words(median(figure[1]), unit_of(name, figure))


def spread(name: str, figure: Figure) -> str:
    """Returns `12.3 ms`; for several values the median, least and greatest: `12.3 ms (11.9 to 14.0 ms, 5 samples)`."""
    values = figure[1]
    if len(values) == 1:
        return middle(name, figure)
    low, high = (in_words(value, unit_of(name, figure)) for value in (min(values), max(values)))
    return f"{middle(name, figure)} ({low} to {high}, {len(values)} samples)"


def unit_of(name: str, figure: Figure) -> str:
    """Returns the unit that the page shows: a factor has ×, so that nobody takes it for a count."""
    return "×" if name == "factor" else figure[0]


def in_words(value: float, unit: str) -> str:
    """Returns a value in its unit: `12.3 ms`, `301 B`, `1,024`, `3.21×`."""
    if unit == "s":
        return units.seconds(value)
    if unit == "bytes":
        return units.quantity(value)
    if unit == "count" and value == int(value):
        return f"{value:,.0f}"
    if unit == "×":
        return f"{units.digits(value)}×"
    return units.digits(value) if unit in ("count", "1") else f"{units.digits(value)} {unit}"
