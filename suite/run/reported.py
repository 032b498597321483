"""What a process reports of its results: the proof of every timed process, and the digests of a gated one."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from suite.protocol import ZERO_GRADIENT
from suite.reference.digests import Difference, Digest, difference, from_figures
from suite.reference.tolerances import BY, FORM, Tolerances
from suite.sets.rows import Row

LOSSES = 3  # a process of a train pass reports the losses of so many first steps
APART = ("moved/", "stressed/")  # how the names of tensors with wide tolerances begin
MAY_LACK = (*APART, "loss 2", "loss 3")  # of those that another optimizer changes, or that a stack doesn't write


@dataclass(frozen=True, slots=True)
class ReportedResults:
    """The results that a process reports: the losses of its first steps, and digests of its last timed result by
    name: `output`, or of several `output/…`; a loss is called `output`, too."""

    losses: list[float]
    results: dict[str, Digest]

    def missing(self, pass_: str) -> str:
        if pass_ != "forward" and len(self.losses) != LOSSES:
            return f"it reported {len(self.losses)} losses of its first {LOSSES} steps"
        return "" if self.results else "it reported nothing of its last timed result"


def metrics(row: Row, kind: str) -> dict[str, list[float]]:
    return {metric["name"]: metric["values"] for metric in row.metrics if metric["kind"] == kind}


def proof(row: Row) -> ReportedResults:
    values = metrics(row, "gate")
    last = {name.replace("last result", "output", 1): figures for name, figures in values.items() if name != "loss"}
    digests = {name: digest_of(figures) for name, figures in last.items()}
    return ReportedResults(values.get("loss", []), {name: digest for name, digest in digests.items() if digest})


def digests(row: Row) -> dict[str, Digest]:
    """Returns the digests of a model's tensors by name; only a gated process without a golden file has them."""
    by_name = {name: digest_of(values) for name, values in metrics(row, "digest").items()}
    return {name: digest for name, digest in by_name.items() if digest is not None}


def form(row: Row, leaf: str) -> str:
    """Returns kind and shape of a result of a question, `real (8, 4)`, from the keys of its digests."""
    keys = (key.partition(FORM)[2] for key in digests(row) if key.startswith(f"{leaf}{FORM}"))
    return next((key for key in keys if key.endswith(")")), "not there")


def digest_of(values: list[float]) -> Digest | None:
    try:
        return from_figures(values)
    except ValueError:
        return None


def worst(ours: Mapping[str, Digest], theirs: Mapping[str, Digest], tolerances: Tolerances) -> tuple[str, Difference]:
    """Returns the tensor in which two stacks differ most, as a multiple of its tolerance, and the difference."""
    largest = max((digest.peak for name, digest in theirs.items() if name.startswith("gradient/")), default=0.0)
    name_of_worst, most, of_worst = "", 0.0, Difference(0.0, 1.0)
    for name in ours.keys() - theirs.keys():
        if not name.startswith(MAY_LACK):
            return name, Difference(math.nan, math.nan)
    for name, wanted in theirs.items():
        key = "gradient/" + name.partition(BY)[0].partition("/")[2]
        gradients = [side[key].peak for side in (theirs, ours) if key in side and key in theirs]
        if gradients and all(peak < ZERO_GRADIENT * largest for peak in gradients):
            continue  # the gradient is zero but for rounding, which AdamW amplifies to a movement
        if name not in ours:
            if name.startswith(MAY_LACK):
                continue  # another optimizer's, of an element hardly above noise, or of a framework's unstable norm
            return name, Difference(math.nan, math.nan)
        apart = difference(ours[name], wanted, name)
        limit = tolerances.of(name).error
        share = apart.error / limit if limit else math.inf * apart.error if apart.error else 0.0
        if not share <= most:
            name_of_worst, most, of_worst = name, share, apart
    return name_of_worst, of_worst
