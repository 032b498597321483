"""What probes observed of each stack, aspect by aspect, and where one stack alone differs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from statistics import median

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer, in_csv
from suite.answers.figures.figure import POINTS
from suite.answers.figures.figure import Figure as Chart
from suite.answers.figures.lines import times_over
from suite.answers.sentences import capital, counted, listed
from suite.case import Purpose
from suite.results.frame import Frame
from suite.results.questions.behaviour import Figure, Observation, observations
from suite.verdicts.grouping import grouped
from suite.verdicts.names import slug

SCALES = ("depths", "sizes")  # figures that a chart has across; the figure `seconds` has a time for each value of them
SHOWN = ("depth", "per_op", "seconds", "factor", "share")  # the grid shows the first of these figures that a cell has
ASPECT = ("probe", "aspect")
IS_ALONE = (  # all other stacks agree, of which there are at least two
    (pl.col("class").n_unique().over(ASPECT) == 2)
    & (pl.len().over(ASPECT) > 2)
    & (pl.len().over(*ASPECT, "class") == 1)
)


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
    seen = observations(frame.analysis.counted)
    if not seen:
        return None
    table = pl.DataFrame(list(map(line, seen)), infer_schema_length=None).with_columns(
        alone=pl.when(IS_ALONE).then(pl.lit("alone")).otherwise(pl.lit(""))
    )
    alone = Counter(table.filter(alone="alone")["stack"])
    of = f"of {counted(table.select(ASPECT).n_unique(), 'aspect')} one stack alone differs"
    stacks = listed([f"{stack} {number}" for stack, number in alone.most_common()])
    otherwise = sum(each.is_otherwise for each in seen)
    documented = f"; {counted(otherwise, 'cell')} differ from the documentation" if otherwise else ""
    return Answer(
        f"{capital(f'in {alone.total()} {of} ({stacks})' if alone else f'in none {of}')}{documented}.",
        table,
        figures=[chart(aspect) for aspect in grouped(seen, lambda each: (each.probe, each.aspect)).values()],
        lines=in_csv(table.with_columns(pl.col("class").alias("verdict"), verdict_reason="words"), Purpose.PROBE),
    )


def line(seen: Observation) -> dict[str, object]:
    in_grid = next((middle(name, seen.figures[name]) for name in SHOWN if name in seen.figures), "")
    pages = {"documented": seen.documented, "the primer": seen.primer}
    differs = " and ".join(page for page, stated in pages.items() if seen.differs(stated))
    return {
        "probe": f"{seen.probe_title} ({seen.probe})",
        "aspect_title": seen.aspect_title,
        "stack": seen.stack,
        "class": seen.class_,
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


def chart(aspect: Sequence[Observation]) -> Chart | None:
    """Returns an aspect's times over a size, a line for each stack; None where no stack was timed over sizes."""
    points = [
        (each.stack, size, time, f"{each.stack}, {size:,.0f}: {units.seconds(time)}")
        for each in aspect
        for name in SCALES
        if name in each.figures
        for size, time in zip(each.figures[name][1], each.figures["seconds"][1], strict=True)
    ]
    if not points:
        return None
    first = aspect[0]
    return times_over(
        f"behaviour-{slug(f'{first.probe} {first.aspect}')}-times",
        first.aspect_title,
        "size",
        pl.DataFrame(points, schema=POINTS, orient="row"),
        measured=True,
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
