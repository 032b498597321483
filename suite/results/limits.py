"""The least time of a step: by its floating-point operations, and by the bytes that it must move. A process whose steps
take less can't have done its work."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from suite import units
from suite.ir.summary import Program
from suite.machine.published_peaks import peaks_of
from suite.machine.roofline import MARGIN, TIMES_MOVED, Roofline
from suite.protocol import FLOPS_PER_CORE_MAX
from suite.results.store.rows import Row

FLOPS, BYTES = "FLOPs", "bytes"
SINGLE_MARGIN = 2.0  # by so much a single sample must be beyond a limit: a machine may be faster for a moment


@dataclass(frozen=True, slots=True)
class Limit:
    """`amount` FLOPs or bytes, of which `whose` handles at most `rate` a second. `counted` says where the amount is
    from."""

    kind: str
    amount: float
    rate: float
    whose: str
    counted: str = "its"

    @property
    def seconds(self) -> float:
        """Returns the least seconds that the amount takes."""
        return self.amount / self.rate

    @property
    def words(self) -> str:
        """Returns `its 2 GFLOP take at least 7.75 ms (258 GFLOP/s, 1.2 times what this machine reached)`."""
        if self.kind == FLOPS:
            amount, rate = units.quantity_of(self.amount, "FLOP"), units.quantity_of(self.rate, "FLOP/s")
        else:
            amount, rate = f"{units.quantity(self.amount)} beyond the caches", f"{units.quantity(self.rate)}/s"
        return f"{self.counted} {amount} take at least {units.seconds(self.seconds)} ({rate}, {self.whose})"

    def exceeded_by(self, row: Row) -> str:
        """Returns why a row's times can't be."""
        median, least = row.median(), shortest(row)
        if median is not None and median >= self.seconds:
            return f"a step took {units.seconds(least)}, others {units.seconds(median)}; {self.words}"
        return f"a step took {units.seconds(median)}; {self.words}"


def limits(row: Row, measured: Roofline | None, programs: Sequence[Program] = ()) -> Iterator[Limit]:
    """Yields what a row's steps can't be faster than, by its spec and by its own compiled `programs`, where they are
    known. All with a margin of `MARGIN`."""
    roof, whose = roof_of(row, measured)
    flops, moved, precision = row.number("flops") or 0.0, row.number("bytes_floor") or 0.0, row.text("precision")
    rate = roof.flops_per_second.get(precision, 0.0) * MARGIN if roof else 0.0
    if not rate and row["target"] == "cpu" and precision in FLOPS_PER_CORE_MAX:
        rate, whose = FLOPS_PER_CORE_MAX[precision] * row["threads"], "more than such cores do at 6 GHz"
    if rate:
        yield Limit(FLOPS, flops, rate, whose)
        yield Limit(FLOPS, compiled_flops(programs), rate, whose, "its own compiled program's")
    for level in roof.levels if roof else ():
        beyond = max(0.0, moved - TIMES_MOVED * level.nearer_bytes)
        yield Limit(BYTES, beyond, level.bytes_per_second * MARGIN, whose)


def roof_of(row: Row, measured: Roofline | None) -> tuple[Roofline | None, str]:
    """Returns what a row's machine reaches, and words for it: a CPU's is `measured`, an accelerator's what its maker
    publishes. None where it isn't known."""
    if row["target"] == "cpu":
        return measured, f"{MARGIN} times what this machine reached"
    peaks = peaks_of(str(row.mapping("environment_facts").get("device") or "")) or peaks_of(row.text("device"))
    return (peaks.roofline(), f"{MARGIN} times the published peak of {peaks.title}") if peaks else (None, "")


def compiled_flops(programs: Sequence[Program]) -> float:
    """Returns the FLOPs of a steady step's program, by XLA's count of what it compiled; 0 where that isn't known.

    A step runs the programs that were compiled last, at least the largest of them. XLA counts a loop's body once, and a
    call of a library not at all: the count is at most the work.
    """
    last = programs[-1].steps[-1] if programs and programs[-1].steps else ""
    return max((p.compiled.cost.flops for p in programs if p.compiled and last in p.steps), default=0.0)


def shortest(row: Row) -> float | None:
    """Returns the least of all samples of the synced clock, in seconds, warm-up included; None without a sample."""
    return min(row["synced_seconds"] or (), default=None)


def exceeded(row: Row, measured: Roofline | None, programs: Sequence[Program] = ()) -> Limit | None:
    """Returns the limit that a row's steps are furthest beyond; None where they keep all limits, and for a row without
    samples.

    Their median may not be below it, nor any single one below 1 / `SINGLE_MARGIN` of it. A stack that doesn't wait may
    have plausible medians, because its queue of steps is full after some; but the first ones return at once.
    """
    binding = max(limits(row, measured, programs), key=lambda limit: limit.seconds, default=None)
    median, least = row.median(), shortest(row)
    if binding is None or median is None or least is None:
        return None
    return binding if median < binding.seconds or least * SINGLE_MARGIN < binding.seconds else None
