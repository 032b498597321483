"""What each case reached of the machine's measured limit."""

from __future__ import annotations

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.figures.axes import LogAxis
from suite.answers.figures.figure import Figure
from suite.answers.sentences import counted, not_shown
from suite.case import Purpose
from suite.machine.roofline import Roofline
from suite.results.columns import flop
from suite.results.frame import Frame

ARITHMETIC, MEMORY = "arithmetic", "memory"
LEVELS = ("cache", "memory")  # from the cores outwards; the bandwidth of the cache may not have been measured


@answer(
    "Roofline",
    heading="Against the machine's limit",
    terms=("roofline", "efficiency"),
    in_markdown=False,
    on_console=False,
)
def roofline(frame: Frame) -> Answer | None:
    """Each circle is a case: across, the operations that its step does for each byte that it must move; up, the
    operations per second that it reached. A roof is what this machine was measured to reach, or what an accelerator's
    maker publishes: it rises where memory bandwidth is the limit, and is flat where arithmetic is. A circle may lie
    above the roof of memory if its data stay in caches."""
    roof = frame.roofline
    if roof is None or not roof.levels:
        return None
    work = (
        frame.processes.filter(
            (pl.col("purpose") == Purpose.TIMED) & (pl.col("flops") > 0) & (pl.col("bytes_floor") > 0)
        )
        .group_by("question", maintain_order=True)
        .agg(pl.col("flops", "bytes_floor", "precision").first())
        .filter(pl.col("precision").is_in([*roof.flops_per_second]))
    )
    if work.is_empty():
        return None
    moving = pl.col("bytes_floor").map_elements(roof.moving_seconds, return_dtype=pl.Float64)
    computing = pl.col("flops") / pl.col("precision").replace_strict(
        dict(roof.flops_per_second), return_dtype=pl.Float64
    )
    table = (
        frame.stacks.filter(pl.col("counts") & pl.col("efficiency").is_not_null())
        .join(work, on="question", maintain_order="left")
        .select(
            "question",
            "stack",
            (pl.col("flops") / pl.col("median_seconds")).alias("flops_per_second"),
            "efficiency",
            (pl.col("flops") / pl.col("bytes_floor")).alias("flops_per_byte"),
            pl.when(moving > computing).then(pl.lit(MEMORY)).otherwise(pl.lit(ARITHMETIC)).alias("bound"),
        )
    )
    if table.is_empty():
        return None
    asked = frame.stacks.filter(pl.col("question").is_in(table["question"].to_list()))
    return Answer(sentence(table), table, figures=[chart(table, roof)], also=not_shown(asked, table))


def sentence(table: pl.DataFrame) -> str:
    """Returns which case comes nearest to the limit, which stays farthest from it, and how many memory limits."""
    ranked = table.sort("efficiency", maintain_order=True)
    worst, best = ranked.row(0, named=True), ranked.row(-1, named=True)
    by_memory = table.filter(pl.col("bound") == MEMORY)["question"].n_unique()
    near, far = (
        f"{line['stack']} on {line['question']} ({units.percent(line['efficiency'])})" for line in (best, worst)
    )
    of = counted(table["question"].n_unique(), "question")
    return f"Nearest to the machine's limit is {near}, farthest {far}. Memory bandwidth limits {by_memory} of {of}."


def chart(table: pl.DataFrame, roofline: Roofline) -> Figure:
    """Returns the figure of the cases under a roof for each precision and level of memory, both axes logarithmic."""
    unit, peaks = flop(table["flops_per_second"].to_list()), roofline.flops_per_second
    across = LogAxis.over(table["flops_per_byte"], least_span=100)
    bandwidths = [level.bytes_per_second for level in roofline.levels]
    up = LogAxis.over([*peaks.values(), min(bandwidths) * across.low, *table["flops_per_second"]])
    corners = [
        {"of": f"{precision}, {level}", "x": at, "y": min(peak, bandwidth * at), "peak": unit(peak)}
        for precision, peak in peaks.items()
        for level, bandwidth in zip(LEVELS[-len(bandwidths) :], bandwidths, strict=True)
        for at in (across.low, min(max(peak / bandwidth, across.low), across.high), across.high)
    ]
    roofs = pl.DataFrame(corners).with_columns(title=pl.col("of") + ": up to " + pl.col("peak"), shape=pl.lit("joined"))
    cases = table.select(
        x="flops_per_byte",
        y="flops_per_second",
        title=pl.format("{}, {}: {}", "question", "stack", pl.Series(map(unit, table["flops_per_second"]))),
        shape=pl.lit("mark"),
        kind=pl.lit("crossing"),
    )
    return Figure(
        id="roofline-chart",
        title=f"{unit.name} over FLOP a byte",
        names=roofs["of"].unique(maintain_order=True).to_list(),
        marks=[roofs, cases],
        across=across,
        ticks=across.ticks(),
        label="FLOP for each byte that a step must move, both axes on a log scale",
        up=up,
        up_ticks=up.ticks(unit),
    )
