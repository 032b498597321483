"""Counts the processes of a run: how many have ended, how many there will be, and about how long the rest takes."""

from __future__ import annotations

from collections.abc import Iterable
from time import monotonic

from suite import units
from suite.case import Attempt
from suite.sets.rows import ProcessKey, Row


class Count:
    """The processes that have ended, and those that are known to come. A process that nobody announced, as one of a
    search, is known once it starts."""

    def __init__(self) -> None:
        self.ended = 0
        self.to_come: set[ProcessKey] = set()
        self.started: float | None = None  # when the first process started

    def expect(self, attempts: Iterable[Attempt]) -> None:
        """Adds processes that come; those that are known to come aren't counted twice."""
        self.to_come.update(attempt.key[:4] for attempt in attempts)

    def start(self, attempt: Attempt) -> None:
        """Counts a process that starts among those to come, until it ends."""
        self.started = monotonic() if self.started is None else self.started
        self.expect([attempt])

    def end(self, row: Row) -> bool:
        """Counts a process that has ended. False for a row that is of no further process, such as a verdict on one that
        has ended before."""
        if row.place not in self.to_come:
            return False
        self.to_come.remove(row.place)
        self.ended += 1
        return True

    @property
    def total(self) -> int:
        return self.ended + len(self.to_come)

    def left(self) -> str:
        """Returns about how long the processes to come take, by the mean time of one so far: `about 12 s left`. Empty
        if that isn't known, and after the last."""
        if self.started is None or not self.ended or not self.to_come:
            return ""
        return f"about {units.duration((monotonic() - self.started) / self.ended * len(self.to_come))} left"
