"""Each stack of a framework upon others, Keras, beside the same framework without it."""

from __future__ import annotations

import re
from collections.abc import Sequence

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.pairs import paired, side_by_side
from suite.answers.sentences import counted, listed
from suite.results.frame import Frame
from suite.stacks.catalog import STACKS

FREE = ("tie", "faster")  # verdicts on the unified stack


@answer("Unified or native", terms=("stack", "verdict", "undecided"), in_markdown=False, on_console=False)
def unified(frame: Frame) -> Answer | None:
    """What one model for all frameworks costs: each line runs a question as its users would write it in Keras and in
    the framework below, *native*, of the same build. Keras decides by itself what is compiled: on JAX and TensorFlow
    the step, on PyTorch nothing. The speedup is the unified stack's over the native one, with the verdict that the map
    has over that stack, so Keras costs time where it is under 1; a tie or faster is free. The optimizers differ:
    Keras's AdamW adds epsilon before the bias correction (`keras_adamw`), and each is held to its own formula."""
    pairs = native_pairs(frame.stacks["stack"].unique().to_list())
    table = side_by_side(frame, pairs, "native", "unified")
    return None if table.is_empty() else Answer(sentence(table), table)


def native_pairs(stacks: Sequence[str]) -> dict[str, str]:
    """Returns {stack: the native stack of the same environment, by the catalogue}, if both are in `stacks`."""

    def native(name: str) -> str | None:
        plain = re.split("[@:]", name, maxsplit=1)[0]
        stack = STACKS.get(plain)
        return f"{stack.native}{name[len(plain) :]}" if stack and stack.native else None

    return paired(stacks, native)


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
        for word in ("close", "undecided"):
            if number := group.filter(verdict=word).height:
                words += f", {word} on {number}"
        said.append(words)
    return f"{'; '.join(said)}."
