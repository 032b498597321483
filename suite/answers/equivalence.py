"""How near each case's result is to the reference, and which cases are wrong."""

from __future__ import annotations

import polars as pl

from suite import units
from suite.answers.answer import Answer, answer
from suite.answers.sentences import counted, listed
from suite.case import Outcome, Purpose
from suite.results.columns import in_order
from suite.results.frame import Frame

WRONG, DIFFER = map(str, (Outcome.WRONG, Outcome.DIFFER))
FAILED = (WRONG, DIFFER)


@answer(
    "Equivalence",
    heading="Do they compute the same?",
    terms=("equivalence gate", "relative error", "precision", "wrong result", "unverified"),
    in_markdown=False,
    on_console=False,
)
def equivalence(frame: Frame) -> Answer | None:
    """In the first block each case's outputs, losses, gradients and parameters after three steps are compared with a
    reference: float64 for operations, golden files of an independent implementation for models. The error is the worst
    relative Frobenius error of any tensor."""
    timed = frame.processes.filter(pl.col("purpose") == Purpose.TIMED)
    if timed.is_empty():
        return None
    failed = pl.col("outcome").is_in(FAILED) & pl.col("reason").is_not_null()
    proofs = timed.group_by("question", "stack").agg(
        pl.col("relative_error").max(),
        pl.col("precision_observed").drop_nulls().unique().sort().str.join(", "),
        pl.col("reason").filter(failed).first(),
    )
    table = (
        frame.stacks.select("question", "stack", "outcome")
        .join(proofs, on=("question", "stack"))
        .sort(in_order("question"), pl.col("relative_error").is_null(), -pl.col("relative_error"), in_order("stack"))
    )
    differing = (
        timed.group_by("question", maintain_order=True)
        .agg(pl.col("weights_sha256").drop_nulls().n_unique().alias("digests"))
        .filter(pl.col("digests") > 1)
        .sort(in_order("question"))["question"]
        .to_list()
    )
    gated = pl.col("relative_error").is_not_null() | pl.col("outcome").is_in(FAILED)
    shown = table.with_columns(pl.when(gated).then("outcome").otherwise(pl.lit("not compared")).alias("outcome"))
    return Answer(sentence(table.filter(gated), table.height, differing), shown, also=of_weights(differing))


def sentence(gated: pl.DataFrame, cases: int, differing: list[str]) -> str:
    """Returns how many cases were compared, the worst error that passed, and the wrong cases."""
    failed = {
        outcome: [f"{stack} on {question}" for question, stack in of.select("question", "stack").iter_rows()]
        for outcome in FAILED
        for of in [gated.filter(pl.col("outcome") == outcome)]
    }
    passed = gated.filter(~pl.col("outcome").is_in(FAILED))
    said = [f"{passed.height} of {counted(cases, 'case')} agree with the reference"]
    if not passed.is_empty():
        error = max(passed["relative_error"])
        worst = sorted(set(passed.filter(relative_error=error)["stack"]))
        said.append(f"the largest error is {units.magnitude(error)} ({listed(worst)})")
    said += [f"wrong: {listed(failed[WRONG])}"] * bool(failed[WRONG])
    if failed[DIFFER]:
        said.append(f"these differ, and nothing says which is right: {listed(failed[DIFFER])}")
    said += [f"weights differ on {listed(differing)}"] * bool(differing)
    return f"{'; '.join(said)}."


def of_weights(differing: list[str]) -> list[str]:
    """Returns whether the stacks of each question had the same weights and inputs."""
    if differing:
        return [f"Weights or inputs differ between stacks on {', '.join(differing)}."]
    return ["All stacks of a question had the same weights and inputs, bit by bit, as far as their digests are known."]
