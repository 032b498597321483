"""Each question at several sizes of one dim."""

from __future__ import annotations

from itertools import groupby

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.comparisons import compared, equal_words
from suite.answers.figures.figure import Figure
from suite.answers.figures.lines import times_over
from suite.answers.sentences import first_of
from suite.answers.show import only
from suite.results.columns import shown_in
from suite.results.frame import Frame
from suite.results.questions.sweeps import Sweep
from suite.results.questions.sweeps import sweeps as sweeps_of
from suite.verdicts.names import dims_words, slug


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
    tables = {sweep_name(sweep): at_sizes(sweep, stacks) for sweep in found}
    said = [lowest_words(sweep, tables[sweep_name(sweep)]) for sweep in found]
    return Answer(
        first_of(said, "sweep"),
        pl.concat(
            [only(table, ("sweep", "question", "size", *shown_in("console"), "baseline")) for table in tables.values()]
        ),
        charts={name: chart(sweep, tables[name]) for sweep in found for name in (sweep_name(sweep),)},
        also=[*filter(None, [*said, *map(equal_words, tables.values())])],
    )


def sweep_name(sweep: Sweep) -> str:
    """Returns the question's name with the dim in place of its size."""
    head = sweep.comparisons[0].head
    rest = dims_words(head.case.dims, (sweep.axis,))
    return f"{head['workload']} {head['pass']} over {sweep.axis}" + (f" ({rest})" if rest else "")


def at_sizes(sweep: Sweep, stacks: pl.DataFrame) -> pl.DataFrame:
    sizes = {"question": [each.name for each in sweep.comparisons], "size": sweep.sizes}
    return (
        pl.DataFrame(sizes)
        .join(stacks, on="question", how="left", maintain_order="left_right")
        .with_columns(sweep=pl.lit(sweep_name(sweep)))
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
    return f"{sweep_name(sweep)}: the lowest median is that of {', then '.join(words)}." if words else ""


def chart(sweep: Sweep, table: pl.DataFrame) -> Figure | None:
    """Returns the medians over the dim, a line for each stack; None without a stack that counts at two sizes."""
    points = table.filter(pl.col("counts") & (pl.col("counts").sum().over("stack") > 1))
    if points.is_empty():
        return None
    titles = [
        f"{stack}, {sweep.axis} {size:,}: {units.seconds(median)}"
        for stack, size, median in points.select("stack", "size", "median_seconds").iter_rows()
    ]
    return times_over(
        f"sweep-{slug(sweep_name(sweep))}-{sweep.comparisons[0].id[:8]}-chart",
        f"Median of a step: {sweep_name(sweep)}",
        sweep.axis,
        points.select(of="stack", x="size", y="median_seconds", title=pl.Series(titles)),
        measured=True,
    )
