"""Processes side by side: in order, so many at once, every failure raised."""

from __future__ import annotations

from threading import Barrier

import pytest

from suite.case import Attempt, Purpose
from suite.run.side_by_side import side_by_side
from suite.sets.rows import Row
from tests.results.rows import attempt_of, row_of

ASKED = [(attempt_of(order=order, block=0, purpose=Purpose.PREDICT), False) for order in range(4)]


def test_two_run_at_once_and_each_is_heard_of() -> None:
    both = Barrier(2, timeout=30)
    starts: list[Attempt] = []
    ends: list[Row] = []

    def run(attempt: Attempt, again: bool) -> Row:
        both.wait()  # one alone would wait in vain
        return row_of(attempt)

    assert side_by_side(run, ASKED, 2, starts.append, ends.append) == ends
    assert sorted(attempt.position for attempt in starts) == sorted(row["position"] for row in ends) == [0, 1, 2, 3]
    assert side_by_side(run, [], 2, starts.append, ends.append) == []


def test_what_fails_is_raised() -> None:
    def run(attempt: Attempt, again: bool) -> Row:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        side_by_side(run, ASKED, 2, lambda _: None, lambda _: None)
