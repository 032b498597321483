"""Each question at several sizes of one dim."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.comparisons import SHORT, compared, equal_words
from suite.answers.figures.axes import LogAxis
from suite.answers.figures.curves import CurveChart, curves
from suite.answers.figures.totals import round_time
from suite.answers.sentences import first_of
from suite.answers.show import only
from suite.results.frame import Frame
from suite.results.names import dims_words, slug
from suite.results.questions.sweeps import Sweep
from suite.results.questions.sweeps import sweeps as sweeps_of


@answer(
    "Sweeps",
    heading="Over sizes",
    terms=("median", "speedup", "verdict", "first run", "peak memory", "relative error"),
    parts="sweep",
)
def sweeps(frame: Frame) -> Answer | None:
    """Comparisons that differ in the size of one dim alone. Each leads to all of its clocks and processes."""
    found = sweeps_of(frame.analysis.comparisons)
    if not found:
        return None
    stacks = compared(frame)
    tables = {name_of(sweep): at_sizes(sweep, stacks) for sweep in found}
    said = [lowest_words(sweep, tables[name_of(sweep)]) for sweep in found]
    return Answer(
        first_of(said, "sweep"),
        pl.concat([only(table, ("sweep", "question", "size", *SHORT, "baseline")) for table in tables.values()]),
        charts={name: chart(sweep, tables[name]) for sweep in found for name in (name_of(sweep),)},
        also=[*filter(None, [*said, *map(equal_words, tables.values())])],
    )


def name_of(sweep: Sweep) -> str:
    """Returns the question's name with the dim in place of its size."""
    head = sweep.comparisons[0].head
    rest = dims_words(head.case.dims, (sweep.axis,))
    return f"{head['workload']} {head['pass']} over {sweep.axis}" + (f" ({rest})" if rest else "")


def at_sizes(sweep: Sweep, stacks: pl.DataFrame) -> pl.DataFrame:
    """Returns the stacks at each size."""
    sizes = {"question": [each.name for each in sweep.comparisons], "size": sweep.sizes}
    return (
        pl.DataFrame(sizes)
        .join(stacks, on="question", how="left", maintain_order="left_right")
        .with_columns(sweep=pl.lit(name_of(sweep)))
    )


def lowest_words(sweep: Sweep, table: pl.DataFrame) -> str:
    """Returns which stack has the lowest median at which sizes; empty if no stack has a time that counts."""
    first = table.filter("counts").group_by("size", maintain_order=True).first()
    runs = groupby(first.select("stack", "size").iter_rows(), key=lambda known: known[0])
    said = [(stack, [size for _, size in run]) for stack, run in runs]
    words = [
        f"{stack} at {sweep.axis} = {sizes[0]:,}{f' to {sizes[-1]:,}' if len(sizes) > 1 else ''}"
        for stack, sizes in said
    ]
    return f"{name_of(sweep)}: lowest median: {', then '.join(words)}." if words else ""


def chart(sweep: Sweep, table: pl.DataFrame) -> CurveChart | None:
    """Returns the medians over the dim, a line for each stack; None without a stack that counts at two sizes."""
    lines = dict(lines_of(table.filter("counts")))
    if not lines:
        return None
    across = LogAxis.over(list(sweep.sizes))
    up = LogAxis.over([seconds for known in lines.values() for _, seconds in known])
    series = {
        name: (known, f"{name}: " + ", ".join(f"{units.seconds(y)} at {x:,.0f}" for x, y in known))
        for name, known in lines.items()
    }
    return CurveChart(
        id=f"sweep-{slug(name_of(sweep))}-{sweep.comparisons[0].id[:8]}-chart",
        title=f"Median of a step: {name_of(sweep)}",
        across_label=f"{sweep.axis}, log scale; time on a log scale, too",
        across=across.ticks(),
        up=up.ticks(words=round_time),
        curves=curves(series, across, up),
    )


def lines_of(counting: pl.DataFrame) -> Iterator[tuple[str, list[tuple[float, float]]]]:
    """Yields each stack that counts at two sizes or more, with (size, median) of each."""
    for (stack,), points in counting.group_by("stack", maintain_order=True):
        if points.height > 1:
            yield str(stack), [*points.select("size", "median_seconds").iter_rows()]
