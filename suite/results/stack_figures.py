"""Computes the figures of one stack on one question from the raw samples and counters of its processes."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from suite.case import Outcome
from suite.machine.roofline import Roofline
from suite.protocol import Protocol
from suite.results.outcomes import Cell, cell, flag_counts
from suite.results.questions.memory_parts import Parts, floor_bytes, parts, total
from suite.sets.rows import Row
from suite.stats import Estimate, has_modes, ratio_of
from suite.verdicts.verdicts import Speedup


@dataclass(frozen=True, slots=True)
class Process:
    """One process: `seconds` is its steady median, `counted` whether it enters the ratios."""

    block: int
    replicate: int
    seconds: float
    counted: bool


@dataclass(frozen=True, slots=True)
class StackFigures:
    """One stack of a comparison. Times are in seconds, memory is in bytes; None is unknown.

    `first`, `second` and `compile` are medians over processes. `median`, `dispatch`, `pipelined` and `fetch` are
    geometric means of the processes' medians, so that they can be compared with each other. `peak_bytes` is the
    greatest peak memory (`Row.peak_bytes`), `peak_parts` are its parts. `efficiency` is the roofline's least time over
    the median. `kernels` are the libraries and instruction sets that an explain process named, those with most time
    first; empty without such a process. `relative_error` is the worst against the reference.

    The A/A twin is in `processes` and in the cell's counts, but not in the other figures. Figures that only tables have
    are in suite/results/frame.py.
    """

    stack: str
    cell: Cell
    first: float | None
    second: float | None
    median: Estimate
    dispatch: float | None
    pipelined: float | None
    fetch: float | None
    efficiency: float | None
    compile: float | None
    peak_bytes: float | None
    peak_parts: Parts
    floor_bytes: float
    relative_error: float | None
    flags: tuple[tuple[str, str], ...]
    processes: tuple[Process, ...]
    kernels: str
    is_baseline: bool = False
    speedup: Speedup | None = None

    @property
    def outcome(self) -> str:
        return self.cell.outcome

    @property
    def counted_seconds(self) -> tuple[float, ...]:
        """Returns the medians, in seconds, of the processes that enter the ratios, with the A/A twin's."""
        return tuple(process.seconds for process in self.processes if process.counted)

    @property
    def has_modes(self) -> bool:
        """Whether equal processes differ so much that they run in two modes; then their mean describes neither mode."""
        return has_modes(self.counted_seconds)

    @property
    def best(self) -> float:
        """Returns the median, in seconds, of the fastest process that counts; if none counts, of the fastest of all."""
        return min(self.counted_seconds or [process.seconds for process in self.processes])

    @property
    def spread(self) -> float:
        """Returns the slowest median over the fastest, of the processes that count; 1 if none does."""
        return max(self.counted_seconds, default=self.best) / self.best

    @property
    def counts(self) -> bool:
        return self.cell.counts


def stack_figures(rows: Sequence[Row], roofline: Roofline | None, protocol: Protocol, kernels: str) -> StackFigures:
    """Returns the figures of one case, computed from its `used_processes`. Some process must have samples."""
    of_stack = [row for row in rows if row["replicate"] == 1]
    used = used_processes(rows)
    typical = geometric_mean([median(row.samples()) for row in used], protocol)
    dispatch, pipelined, fetch = (
        mean_of_known(row.median(clock) for row in used) for clock in ("dispatch", "pipelined", "fetch")
    )
    work = used[0].number("flops"), used[0].number("bytes_floor"), used[0].text("precision")
    least = roofline.seconds(*work) if roofline else None
    return StackFigures(
        stack=rows[0].stack_name,
        cell=cell(rows[0].stack_name, rows),
        first=middle(row.number("first_seconds") for row in used),
        second=middle(row.number("second_seconds") for row in used),
        median=typical,
        dispatch=dispatch,
        pipelined=pipelined,
        fetch=fetch,
        efficiency=None if least is None else least / typical.value,
        compile=middle(row.number("compile_seconds") for row in used),
        peak_bytes=max((peak for row in used if (peak := row.peak_bytes) is not None), default=None),
        peak_parts=max(map(parts, used), key=total),
        floor_bytes=floor_bytes(used[0]),
        relative_error=greatest(rows, "relative_error"),
        flags=flag_counts(of_stack),
        processes=tuple(
            Process(row["block"], row["replicate"], median(samples), row.outcome == Outcome.OK)
            for row in rows
            if (samples := row.samples())
        ),
        kernels=kernels,
    )


def used_processes(rows: Iterable[Row]) -> list[Row]:
    """Returns the processes whose medians make the case's: those that ended `ok`, without the A/A twin; if there are
    none, those that ended otherwise, or else the twin. All have samples."""
    timed = [row for row in rows if row.samples()]
    of_stack = [row for row in timed if row["replicate"] == 1]
    return [row for row in of_stack if row.outcome == Outcome.OK] or of_stack or timed


def geometric_mean(medians: Sequence[float], protocol: Protocol) -> Estimate:
    """Returns the geometric mean of processes' medians in seconds, with a t interval if there are two or more."""
    freedom = min(protocol.blocks, len(medians)) - 1
    return ratio_of([math.log(seconds) for seconds in medians], freedom, protocol.confidence)


def mean_of_known(medians: Iterable[float | None]) -> float | None:
    """Returns the geometric mean of the known medians in seconds; None where none is known."""
    logs = [math.log(seconds) for seconds in medians if seconds]
    return math.exp(fmean(logs)) if logs else None


def middle(values: Iterable[float | None]) -> float | None:
    """Returns the median of the known finite values; None where there are none."""
    numbers = [value for value in values if value is not None and math.isfinite(value)]
    return median(numbers) if numbers else None


def greatest(rows: Sequence[Row], column: str) -> float | None:
    """Returns the greatest known value of a column; None where none is known."""
    return max((value for row in rows if (value := row.number(column)) is not None), default=None)
