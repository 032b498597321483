"""The table of cases: a row a question and stack, computed from the raw samples and counters of its processes. Nothing
in it depends on a baseline but the speedup that stands beside it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from suite.case import Outcome
from suite.machine.roofline import Roofline
from suite.protocol import Protocol
from suite.results.outcomes import flag_counts, gravest
from suite.results.questions.memory_parts import Parts, floor_bytes, parts, total
from suite.sets.rows import IMPLAUSIBLE, NOT_RUN, Row
from suite.stats import Estimate, has_modes, ratio_of
from suite.verdicts.ratios import freedom
from suite.verdicts.verdicts import Speedup


@dataclass(frozen=True, slots=True)
class Process:
    """One process: `seconds` is its steady median, `counted` whether it enters the ratios."""

    block: int
    replicate: int
    seconds: float
    counted: bool


@dataclass(frozen=True, slots=True)
class CaseRow:
    """One stack on one question. Its fields have the names of the columns in a notebook's frame
    (suite/results/frame.py); what depends on single samples is in the frame alone. None is unknown.

    `outcome` is the gravest of its processes' outcomes, with phase and reason of the first that has it; `ok` of the
    `planned` processes ended ok. `first_seconds`, `second_seconds` and `compile_seconds` are medians over processes.
    The median, `dispatch_seconds`, `pipelined_seconds` and `fetch_seconds` are geometric means of the processes'
    medians, so that they can be compared with each other; a stack without a steady time has no median.
    `average_seconds` is the mean of the processes' averages, from which sums follow. `peak_bytes` is
    the greatest peak memory (`Row.peak_bytes`), `peak_parts` are its parts. `efficiency` is the roofline's least time
    over the median. `kernels` are the libraries and instruction sets that an explain process named, those with most
    time first. `relative_error` is the worst against the reference. `speedup` is that over the chosen baseline.

    The A/A twin is among the processes and in the counts of outcomes, but not in the other figures.
    """

    stack: str
    outcome: str
    phase: str = ""
    reason: str = ""
    ok: int = 0
    planned: int = 0
    first_seconds: float | None = None
    second_seconds: float | None = None
    average_seconds: float | None = None
    median_seconds: float | None = None
    median_seconds_low: float | None = None
    median_seconds_high: float | None = None
    dispatch_seconds: float | None = None
    pipelined_seconds: float | None = None
    fetch_seconds: float | None = None
    compile_seconds: float | None = None
    efficiency: float | None = None
    peak_bytes: float | None = None
    peak_parts: Parts = ()
    floor_bytes: float = 0.0
    relative_error: float | None = None
    tolerance: float | None = None
    flags: tuple[tuple[str, str], ...] = ()
    kernels: str = ""
    processes: tuple[Process, ...] = ()
    is_baseline: bool = False
    speedup: Speedup | None = None

    @property
    def steady(self) -> float:
        """Returns the median of a steady step in seconds, of a stack that has one."""
        assert self.median_seconds is not None
        return self.median_seconds

    @property
    def average(self) -> float:
        """Returns the average of a steady step in seconds, of a stack that has one."""
        assert self.average_seconds is not None
        return self.average_seconds

    @property
    def is_timed(self) -> bool:
        return self.median_seconds is not None

    @property
    def counts(self) -> bool:
        """Whether its times may be compared: some process is `ok` and none is `wrong`, `differ` or `implausible`."""
        return self.ok > 0 and self.outcome not in (Outcome.WRONG, Outcome.DIFFER, IMPLAUSIBLE)

    @property
    def failed(self) -> bool:
        """Whether some process ended otherwise than `ok`."""
        return self.outcome not in (Outcome.OK, NOT_RUN)

    @property
    def counted_seconds(self) -> tuple[float, ...]:
        """Returns the medians, in seconds, of the processes that enter the ratios, with the A/A twin's."""
        return tuple(process.seconds for process in self.processes if process.counted)

    @property
    def two_modes(self) -> bool:
        """Whether equal processes differ so much that they run in two modes; then their mean describes neither mode."""
        return has_modes(self.counted_seconds)

    @property
    def best_seconds(self) -> float:
        """Returns the median, in seconds, of the fastest process that counts; if none counts, of the fastest of all."""
        return min(self.counted_seconds or [process.seconds for process in self.processes])

    @property
    def spread(self) -> float:
        """Returns the slowest median over the fastest, of the processes that count; 1 if none does."""
        return max(self.counted_seconds, default=self.best_seconds) / self.best_seconds


def case_row(rows: Sequence[Row], roofline: Roofline | None, protocol: Protocol, kernels: str = "") -> CaseRow:
    """Returns the row of one case; its times are those of its `used_processes`."""
    used = used_processes(rows)
    worst = gravest(row.outcome for row in rows)
    first = next((row for row in rows if row.outcome == worst), None)
    typical = geometric_mean([median(row.samples()) for row in used], protocol) if used else None
    of_stack = [row for row in rows if row["replicate"] == 1]
    calls, clocks = used or of_stack, ("dispatch", "pipelined", "fetch")
    dispatch, pipelined, fetch = (mean_of_known(row.median(clock) for row in used) for clock in clocks)
    return CaseRow(
        stack=rows[0].stack_name,
        outcome=worst,
        phase=first.text("phase") if first is not None else "",
        reason=first.text("reason") if first is not None else "",
        ok=sum(row.outcome == Outcome.OK for row in rows),
        planned=len(rows),
        first_seconds=middle(row.number("first_seconds") for row in calls),
        second_seconds=middle(row.number("second_seconds") for row in calls),
        average_seconds=fmean(fmean(row.samples()) for row in used) if used else None,
        median_seconds=typical.value if typical else None,
        median_seconds_low=typical.low if typical else None,
        median_seconds_high=typical.high if typical else None,
        dispatch_seconds=dispatch,
        pipelined_seconds=pipelined,
        fetch_seconds=fetch,
        compile_seconds=middle(row.number("compile_seconds") for row in used),
        efficiency=efficiency(used[0], typical.value, roofline) if typical else None,
        peak_bytes=max((peak for row in used if (peak := row.peak_bytes) is not None), default=None),
        peak_parts=max(map(parts, used), key=total, default=()),
        floor_bytes=floor_bytes(used[0]) if used else 0.0,
        relative_error=greatest(rows, "relative_error") if used else None,
        tolerance=greatest(rows, "tolerance") if used else None,
        flags=flag_counts(of_stack) if used else (),
        kernels=kernels if used else "",
        processes=tuple(
            Process(row["block"], row["replicate"], median(samples), row.outcome == Outcome.OK)
            for row in rows
            if (samples := row.samples())
        ),
    )


def used_processes(rows: Iterable[Row]) -> list[Row]:
    """Returns the processes whose medians make the case's: those that ended `ok`, without the A/A twin; if there are
    none, those that ended otherwise, or else the twin. All have samples."""
    timed = [row for row in rows if row.samples()]
    of_stack = [row for row in timed if row["replicate"] == 1]
    return [row for row in of_stack if row.outcome == Outcome.OK] or of_stack or timed


def efficiency(row: Row, seconds: float, roofline: Roofline | None) -> float | None:
    work = row.number("flops"), row.number("bytes_floor"), row.text("precision")
    least = roofline.seconds(*work) if roofline else None
    return None if least is None else least / seconds


def geometric_mean(medians: Sequence[float], protocol: Protocol) -> Estimate:
    """Returns the geometric mean of processes' medians in seconds, with a t interval if there are two or more."""
    logs = [math.log(seconds) for seconds in medians]
    return ratio_of(logs, freedom(len(logs), protocol), protocol.confidence)


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
