"""Which published times can't be: what a step must touch, and how fast its chip can touch it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from suite.machine.published_peaks import PublishedPeaks, peaks_of
from suite.machine.roofline import MARGIN
from suite.reference.floor import floor
from suite.results.documents.figures import PublishedTime
from suite.workloads import catalog

FLOAT32, BFLOAT16 = "f32", "bf16"
IMPOSSIBLE, DOUBTFUL, POSSIBLE = "can't be", "at the limit", "possible"


@dataclass(frozen=True, slots=True)
class Reading:
    """What may have been timed: `words` say it, `moved` is the bytes that it can't avoid touching, `least` the seconds
    that the chip needs for it at least."""

    words: str
    moved: int
    least: float

    def verdict(self, seconds: float) -> str:
        """Returns whether so few seconds are enough: `IMPOSSIBLE` below the least time by more than `MARGIN`,
        `DOUBTFUL` below it."""
        if seconds * MARGIN < self.least:
            return IMPOSSIBLE
        return DOUBTFUL if seconds < self.least else POSSIBLE


def dims_of(time: PublishedTime) -> Mapping[str, int]:
    """Returns all dims of a published case: those that the document gives, over the published model's."""
    return catalog.find()[time.workload].dims("full", time.dims)


def chip_of(time: PublishedTime) -> PublishedPeaks | None:
    """Returns the chip that a document names; None where it says `TPU`, say, and no more."""
    return peaks_of(time.device)


def least_seconds(time: PublishedTime) -> float | None:
    """Returns the least seconds of what was published as timed, by this suite's own count; None on an unnamed chip."""
    chip, spec = chip_of(time), catalog.find()[time.workload].spec
    if chip is None:
        return None
    dims = dims_of(time)
    return chip.roofline().seconds(spec.flops(dims, time.pass_), spec.bytes_floor(dims, time.pass_), FLOAT32)


def readings(time: PublishedTime) -> tuple[Reading, ...]:
    """Returns what a published training step may have been, from all of the step to none of it, with the bytes of each.
    Empty for other passes and on an unnamed chip."""
    chip, spec = chip_of(time), catalog.find()[time.workload].spec
    if chip is None or time.pass_ != "train":
        return ()
    dims, roof = dims_of(time), chip.roofline()
    parts = floor(spec, dims, "train")
    whole, weights = spec.bytes_floor(dims, "train"), parts.gradients
    counted = (
        (
            "a training step in float32: weights and the optimizer's state, each read and written",
            whole,
            "train",
            FLOAT32,
        ),
        ("the same, and every gradient written and read once", whole + 2 * weights, "train", FLOAT32),
        ("a training step with both in bfloat16", whole // 2, "train", BFLOAT16),
        ("a training step with plain SGD, which keeps no state, in float32", 2 * weights, "train", FLOAT32),
        ("forward pass and loss alone, in float32: weights read", weights, "forward", FLOAT32),
    )
    listed = [
        Reading(words, moved, roof.seconds(spec.flops(dims, pass_), moved, precision) or 0.0)
        for words, moved, pass_, precision in counted
    ]
    return (*listed, Reading("a call that wasn't waited for: the step may still have been under way", 0, 0.0))
