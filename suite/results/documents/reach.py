"""Finds published times that can't be true, by the bytes that a step must move and the speed of its chip."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from suite.machine.published_peaks import peaks_of
from suite.machine.roofline import MARGIN
from suite.reference.floor import floor
from suite.results.documents.figures import PublishedTime
from suite.workloads import catalog

FLOAT32, BFLOAT16 = "f32", "bf16"
IMPOSSIBLE, DOUBTFUL, POSSIBLE = "can't be", "at the limit", "possible"


@dataclass(frozen=True, slots=True)
class TimedWork:
    """Work that a published time may stand for: a description, the bytes that it must move, and the least seconds that
    the chip needs for it."""

    words: str
    moved: int
    least: float

    def verdict(self, seconds: float) -> str:
        """Returns whether the work can take this time: `IMPOSSIBLE` below the least time by more than the factor
        `MARGIN`, `DOUBTFUL` below it by less, else `POSSIBLE`."""
        if seconds * MARGIN < self.least:
            return IMPOSSIBLE
        return DOUBTFUL if seconds < self.least else POSSIBLE


def dims_of(time: PublishedTime) -> Mapping[str, int]:
    """Returns all dims of a published case: those that the document gives, over the published model's."""
    return catalog.find()[time.workload].dims("full", time.dims)


def least_seconds(time: PublishedTime) -> float | None:
    """Returns the least seconds that a published step can take in its precision on the chip that the document names.
    This suite counts the step's FLOPs and bytes. None if the document names no exact chip."""
    chip, spec = peaks_of(time.device), catalog.find()[time.workload].spec
    if chip is None:
        return None
    dims = dims_of(time)
    return chip.roofline().seconds(spec.flops(dims, time.pass_), spec.bytes_floor(dims, time.pass_), time.precision)


def possible(time: PublishedTime) -> str:
    """Returns whether a published time can be that of a whole step; empty if the document names no exact chip."""
    least = least_seconds(time)
    return "" if least is None else TimedWork("", 0, least).verdict(time.seconds)


def possible_work(time: PublishedTime) -> tuple[TimedWork, ...]:
    """Returns what may really have been timed where a document gives the time of a training step in float32: the whole
    step first, then less and less of it, and last a call that wasn't waited for. Empty for a forward pass, and if the
    document names no exact chip."""
    chip, workload = peaks_of(time.device), catalog.find()[time.workload]
    if chip is None or time.pass_ != "train":
        return ()
    spec = workload.spec
    dims, roof = dims_of(time), chip.roofline()
    parts = floor(workload, dims, "train")
    whole, weights = spec.bytes_floor(dims, "train"), parts.gradients
    counted = (
        (
            "a training step in float32: weights and the optimizer's state, each read and written",
            whole,
            "train",
            FLOAT32,
        ),
        ("the same, and every gradient written and read once", whole + 2 * weights, "train", FLOAT32),
        ("a training step with weights and the optimizer's state in bfloat16", whole // 2, "train", BFLOAT16),
        ("a training step with plain SGD, which keeps no state, in float32", 2 * weights, "train", FLOAT32),
        ("forward pass and loss alone, in float32: weights read", weights, "forward", FLOAT32),
    )
    listed = [
        TimedWork(words, moved, roof.seconds(spec.flops(dims, pass_), moved, precision) or 0.0)
        for words, moved, pass_, precision in counted
    ]
    return (*listed, TimedWork("a call that wasn't waited for: the step may still have been under way", 0, 0.0))
