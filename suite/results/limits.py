"""Computes the least time that a step can take, by its floating-point operations and by the bytes that it must move. A
process whose steps take less can't have done its work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from suite import units
from suite.ir.summary import Program
from suite.machine.published_peaks import peaks_of
from suite.machine.roofline import MARGIN, TIMES_MOVED, Roofline
from suite.protocol import FLOPS_PER_CORE_MAX
from suite.sets.rows import Row

FLOPS, BYTES = "FLOPs", "bytes"
SINGLE_MARGIN = 2.0  # a single sample breaks a limit only by this factor: a machine may be faster for a moment


@dataclass(frozen=True, slots=True)
class SpeedLimit:
    """A limit on the speed of a step, which has an `amount` of FLOPs or bytes (`kind`) and does at most `rate` of them
    per second. `whose` says in words whose rate this is, `counted` whose amount (the step's own, or its compiled
    program's)."""

    kind: str
    amount: float
    rate: float
    whose: str
    counted: str = "its"
    margin: float = 1.0  # by which the rate is more than what was measured or published

    @property
    def seconds(self) -> float:
        """Returns the least seconds that the amount takes."""
        return self.amount / self.rate

    @property
    def words(self) -> str:
        """Returns the limit in words: `its 2 GFLOP take at least 7.75 ms (258 GFLOP/s, 1.2 times what this machine
        reached)`."""
        if self.kind == FLOPS:
            amount, rate = units.quantity_of(self.amount, "FLOP"), units.quantity_of(self.rate, "FLOP/s")
        else:
            amount, rate = f"{units.quantity(self.amount)} beyond the caches", f"{units.quantity(self.rate)}/s"
        return f"{self.counted} {amount} take at least {units.seconds(self.seconds)} ({rate}, {self.whose})"

    def exceeded_by(self, row: Row) -> str:
        """Returns why a row's times can't be true."""
        median, least = row.median(), shortest(row)
        if median is not None and median >= self.seconds:
            return f"a step took {units.seconds(least)}, others {units.seconds(median)}; {self.words}"
        return f"a step took {units.seconds(median)}; {self.words}"


def limits(row: Row, measured: Roofline | None, programs: Sequence[Program] = ()) -> Iterator[SpeedLimit]:
    """Yields the limits of a row's steps, by the FLOPs and bytes of its spec and the FLOPs of its own compiled
    `programs`. A rate that was measured or published is multiplied by `MARGIN`."""
    roof, whose = roof_of(row, measured)
    flops, moved, precision = row.number("flops") or 0.0, row.number("bytes_floor") or 0.0, row.text("precision")
    if row["implementation"]:  # of a question's inputs a function may read a part
        moved = 0.0
    rate = roof.flops_per_second.get(precision, 0.0) * MARGIN if roof else 0.0
    margin = MARGIN if rate else 1.0
    if not rate and row["target"] == "cpu" and precision in FLOPS_PER_CORE_MAX:
        rate, whose = FLOPS_PER_CORE_MAX[precision] * row["threads"], "more than such cores do at 6 GHz"
    if rate:
        yield SpeedLimit(FLOPS, flops, rate, whose, margin=margin)
        yield SpeedLimit(FLOPS, compiled_flops(programs), rate, whose, "its own compiled program's", margin)
    for level in roof.levels if roof else ():
        beyond = max(0.0, moved - TIMES_MOVED * level.nearer_bytes)
        yield SpeedLimit(BYTES, beyond, level.bytes_per_second * MARGIN, whose, margin=MARGIN)


def roof_of(row: Row, measured: Roofline | None) -> tuple[Roofline | None, str]:
    """Returns the roofline of a row's machine, and words for it: a CPU's was `measured`, an accelerator's is what its
    maker publishes. The roofline is None if unknown."""
    if row["target"] == "cpu":
        return measured, f"{MARGIN} times what this machine reached"
    peaks = peaks_of(row.reported_device) or peaks_of(row.text("device"))
    return (peaks.roofline(), f"{MARGIN} times the published peak of {peaks.title}") if peaks else (None, "")


def compiled_flops(programs: Sequence[Program]) -> float:
    """Returns the FLOPs of a steady step's program, by XLA's count; 0 if unknown.

    A steady step runs at least the largest of the programs of the last step that compiled any. XLA counts a loop's body
    once, and a call of a library not at all: the count is never more than the work.
    """
    last = programs[-1].steps[-1] if programs and programs[-1].steps else ""
    return max((p.compiled.cost.flops for p in programs if p.compiled and last in p.steps), default=0.0)


def shortest(row: Row) -> float | None:
    """Returns the least of all samples of the synced clock, in seconds, warm-up included; None without a sample."""
    return min(row["synced_seconds"] or (), default=None)


def exceeded(row: Row, measured: Roofline | None, programs: Sequence[Program] = ()) -> SpeedLimit | None:
    """Returns the strictest limit if a row's steps break it; None if they keep it, and for a row without samples.

    Steps break a limit if their median is shorter than the limit's `seconds`, or if the shortest step is shorter than
    `seconds` / `SINGLE_MARGIN`. A stack that doesn't wait for its steps may have a plausible median, because its queue
    of steps fills up; but its first steps return at once.
    """
    binding = max(limits(row, measured, programs), key=lambda limit: limit.seconds, default=None)
    median, least = row.median(), shortest(row)
    if binding is None or median is None or least is None:
        return None
    return binding if median < binding.seconds or least * SINGLE_MARGIN < binding.seconds else None
