"""Stacks of a set in pairs, one upon the other, side by side."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import polars as pl

from suite.answers.comparisons import compared
from suite.results.columns import in_order
from suite.results.frame import Frame
from suite.results.ranking import catalogue_order
from suite.results.ratios import ends

SPEEDUP = dict.fromkeys(("speedup", "speedup_low", "speedup_high"), pl.Float64)


def paired(stacks: Sequence[str], below: Callable[[str], str | None]) -> dict[str, str]:
    """Returns {stack: the one below it} in the catalogue's order, of those whose stack `below` is in `stacks`, too."""
    found = {name: below(name) for name in sorted(stacks, key=catalogue_order)}
    return {name: under for name, under in found.items() if under in stacks and under is not None}


def side_by_side(frame: Frame, pairs: Mapping[str, str], lower: str, upper: str) -> pl.DataFrame:
    """Returns each pair on each question that both were asked; columns of the stack below begin with `lower`, of the
    other with `upper`. The speedup is that of the upper stack over the lower one, as the map has it over
    that stack."""
    stacks = compared(frame).select("question", "stack", "median_seconds", "first_seconds", "ended")
    ours, theirs = (
        stacks.rename({name: f"{side}_{name}" for name in stacks.columns if name != "question"})
        for side in (upper, lower)
    )
    ended = pl.when(pl.col(f"{upper}_ended") != "").then(f"{upper}_ended").otherwise(f"{lower}_ended")
    return (
        pl.DataFrame([*pairs.items()], schema=dict.fromkeys((upper, lower), pl.String), orient="row")
        .with_row_index("place")
        .join(ours, left_on=upper, right_on=f"{upper}_stack")
        .join(theirs, left_on=("question", lower), right_on=("question", f"{lower}_stack"))
        .join(speedups(frame, pairs, upper), on=("question", upper), how="left")
        .sort(in_order("question"), "place")
        .select(
            *("question", lower, upper, "verdict"),
            pl.when(pl.col("speedup").is_null()).then(ended).otherwise(pl.lit("")).alias("ended"),
            *(f"{side}_median_seconds" for side in (lower, upper)),
            *SPEEDUP,
            *(f"{side}_first_seconds" for side in (lower, upper)),
        )
    )


def speedups(frame: Frame, pairs: Mapping[str, str], upper: str) -> pl.DataFrame:
    """Returns the speedup of each pair on each question that the reader doesn't hide."""
    names = {comparison.id: comparison.name for comparison in frame.analysis.comparisons}
    lines = [
        (names[id_], stack, speedup.verdict, *ends("", speedup.ratio).values())
        for lower in dict.fromkeys(pairs.values())
        for (id_, stack), speedup in frame.analysis.pairing.over(lower).items()
        if id_ in names and pairs.get(stack) == lower
    ]
    schema = dict.fromkeys(("question", upper, "verdict"), pl.String) | SPEEDUP
    return pl.DataFrame(lines, schema=schema, orient="row")
