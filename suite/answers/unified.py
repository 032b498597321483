"""Each stack of a framework upon others, Keras, beside the same framework without it."""

from __future__ import annotations

from collections.abc import Sequence

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.comparisons import compared
from suite.answers.sentences import counted, listed
from suite.results.frame import Frame, ends
from suite.results.ranking import catalogue_order
from suite.stacks.catalog import STACKS

FREE = ("tie", "faster")  # verdicts on the unified stack
SPEEDUPS = {
    **dict.fromkeys(("question", "unified", "verdict"), pl.String),
    **dict.fromkeys(("speedup", "speedup_low", "speedup_high"), pl.Float64),
}


@answer("Unified or native", terms=("stack", "verdict", "undecided"), in_markdown=False, on_console=False)
def unified(frame: Frame) -> Answer | None:
    """What one model for all frameworks costs: each line runs a question as its users would write it in Keras and in
    the framework below, *native*, of the same build. Keras decides by itself what is compiled: on JAX and TensorFlow
    the step, on PyTorch nothing. The speedup is the native stack's median divided by the unified one's, so Keras costs
    time where it is under 1; a tie or faster is free. The intervals over one native stack are simultaneous. The
    optimizers differ: Keras's AdamW adds epsilon before the bias correction (`keras_adamw`), and each is held to its
    own formula."""
    pairs = native_pairs(frame.stacks["stack"].unique().to_list())
    table = side_by_side(frame, pairs)
    return None if table.is_empty() else Answer(sentence(table), table)


def native_pairs(stacks: Sequence[str]) -> dict[str, str]:
    """Returns {stack: the native stack of the same environment, by the catalogue}, if both are in `stacks`."""
    pairs = {}
    for name in sorted(stacks, key=catalogue_order):
        plain, variant = name.partition("@")[0], name.partition("@")[1:]
        native = STACKS[plain].native if plain in STACKS else None
        if native and (same := native + "".join(variant)) in stacks:
            pairs[name] = same
    return pairs


def side_by_side(frame: Frame, pairs: dict[str, str]) -> pl.DataFrame:
    """Returns each pair on each question that both were asked."""
    stacks = compared(frame).select("question", "stack", "median_seconds", "first_seconds", "ended")
    native, ours = (
        stacks.rename({name: f"{side}_{name}" for name in stacks.columns if name != "question"})
        for side in ("native", "unified")
    )
    ended = pl.when(pl.col("unified_ended") != "").then("unified_ended").otherwise("native_ended")
    return (
        pl.DataFrame([*pairs.items()], schema=dict.fromkeys(("unified", "native"), pl.String), orient="row")
        .with_row_index("place")
        .join(ours, left_on="unified", right_on="unified_stack")
        .join(native, left_on=("question", "native"), right_on=("question", "native_stack"))
        .join(speedups(frame, pairs), on=("question", "unified"), how="left")
        .sort("question", "place")
        .select(
            *("question", "native", "unified", "verdict"),
            pl.when(pl.col("speedup").is_null()).then(ended).otherwise(pl.lit("")).alias("ended"),
            *("native_median_seconds", "unified_median_seconds", "speedup", "speedup_low", "speedup_high"),
            *("native_first_seconds", "unified_first_seconds"),
        )
    )


def speedups(frame: Frame, pairs: dict[str, str]) -> pl.DataFrame:
    """Returns the speedup of each pair on each question."""
    names = {comparison.id: comparison.name for comparison in frame.analysis.comparisons}
    lines = [
        (names[id_], stack, speedup.verdict, *ends("", speedup.ratio).values())
        for native in dict.fromkeys(pairs.values())
        for (id_, stack), speedup in frame.analysis.over(native, [s for s in pairs if pairs[s] == native]).items()
        if id_ in names  # the reader may hide one
    ]
    return pl.DataFrame(lines, schema=SPEEDUPS, orient="row")


def sentence(table: pl.DataFrame) -> str:
    """Returns on how many questions the unified stack is shown to be free, and by how much it is slower at most."""
    said = []
    for (native, stack), group in table.group_by("native", "unified", maintain_order=True):
        free, slower = (group.filter(pl.col("verdict").is_in(words)) for words in (FREE, ["slower"]))
        on = f" ({listed(free['question'].to_list())})" if 0 < free.height < group.height else ""
        words = f"{stack} over {native}: free on {free.height} of {counted(group.height, 'question')}{on}"
        if slower.height:
            worst = slower.sort("speedup").row(0, named=True)
            words += f", at most {units.digits(1 / worst['speedup'])} times as long ({worst['question']})"
        if unknown := group.filter(pl.col("verdict") == "undecided").height:
            words += f", undecided on {unknown}"
        said.append(words)
    return f"{'; '.join(said)}."
