"""Holds the times that a process has read from its own clock against what it doesn't own: the clock of its supervisor,
and the steps whose results were checked.

Code in a measured process can patch its clock, or time something else than its work. docs/why/security.md says which
of these are caught.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from suite import units
from suite.case import CLOCK, COMPILE_PHASES, FRESH_STEPS, LEAD_IN, SAMPLING_PHASES, Outcome
from suite.sets.rows import Row

# Samples are a process's only work in the phases that count here, besides collecting garbage and writing events. On a
# machine with six times as many processes as cores, the supervisor's seconds were 0.7 to 1.34 times those of the
# samples, and the difference at most 1.5 s in 16 s.
OVERHEAD = 1.5
LOOKS_SECONDS = 1.0  # the supervisor looks four times a second, later on a busy machine
HANDOVER_SECONDS = 0.25  # after a turn
# A checked step may find caches cold and threads asleep, or wait for a thread whose core another program has: on a busy
# machine up to 8 ms of processor time for a product of a few microseconds, and 40 ms for a training step of 0.3 ms. The
# shorter of two is seldom over 1 ms.
FRESH, FRESH_SECONDS, ONLY_FRESH_SECONDS = 10.0, 0.05, 0.25


def contradiction(row: Row, outside: Mapping[str, float], fresh: Sequence[float] = ()) -> str | None:
    """Returns why a row's times can't be true, with both figures; None if nothing speaks against them. `outside` has
    the seconds of the worker's phases by its supervisor's clock, and is empty if they are unknown; `fresh` are the
    seconds of the case's checked steps, if another process took them."""
    if row["outcome"] != Outcome.OK or row.median() is None:
        return None
    for what, claimed, phases, slack in claims(row) if outside else ():
        took = sum(outside.get(phase, 0.0) for phase in phases)
        if not claimed - LOOKS_SECONDS <= took <= OVERHEAD * claimed + slack:
            own, other = units.seconds(claimed), units.seconds(took)
            return f"its {what} took {own} by its own clock, and {other} by its supervisor's"
    return too_fresh(row, fresh_seconds(row) or fresh)


def claims(row: Row) -> Iterator[tuple[str, float, tuple[str, ...], float]]:
    """Yields what a process has timed in words, its seconds by the process's clock, the phases in which that was, and
    the seconds that these may have taken besides."""
    for phase in COMPILE_PHASES:
        yield f"{phase} run", row.number(f"{phase}_seconds") or 0.0, (phase,), LOOKS_SECONDS
    synced, pipelined, fetched = (row[f"{clock}_seconds"] or [] for clock in ("synced", "pipelined", "fetch"))
    calls = row["pipelined_calls"] or 0
    claimed = sum(synced[1:]) + calls * sum(pipelined) + sum(fetched)  # the first is the third step, a phase of its own
    turns = len({*(row["synced_rounds"] or [])} - {0})
    slack = LOOKS_SECONDS + HANDOVER_SECONDS * turns
    yield "samples", claimed + sum(seconds_of(row, LEAD_IN)), SAMPLING_PHASES, slack


def fresh_seconds(row: Row) -> list[float]:
    return seconds_of(row, FRESH_STEPS)


def too_fresh(row: Row, seconds: Sequence[float]) -> str | None:
    """Returns why timed steps can't have done the work of the checked ones; None if they may have."""
    typical = row.median() or 0.0
    fresh = min(seconds, default=0.0)
    if fresh <= FRESH * typical + (FRESH_SECONDS if len(seconds) > 1 else ONLY_FRESH_SECONDS):
        return None
    per_core = " of each core" if row["target"] == "cpu" else ""
    return (
        f"a timed step took {units.seconds(typical)}, and one on values that it hadn't seen "
        f"{units.seconds(fresh)}{per_core}"
    )


def seconds_of(row: Row, name: str) -> list[float]:
    named = (metric for metric in row.metrics if (metric["kind"], metric["name"]) == (CLOCK, name))
    return [seconds for metric in named for seconds in metric["values"]]
