"""Processes side by side: in order, so many at once, every failure raised."""

from __future__ import annotations

from threading import Barrier

import pytest

from suite.case import Attempt, Purpose
from suite.results.store.rows import Row
from suite.run.side_by_side import side_by_side
from tests.results.rows import attempt_of, row_of


class Heard:
    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []

    def attempt_starts(self, attempt: Attempt) -> None:
        self.starts.append(attempt.order)

    def attempt_ends(self, row: Row) -> None:
        self.ends.append(row["order"])


ASKED = [(attempt_of(order=order, block=0, purpose=Purpose.PREDICT), False) for order in range(4)]


def test_two_run_at_once_and_each_is_heard_of() -> None:
    both, heard = Barrier(2, timeout=30), Heard()

    def run(attempt: Attempt, again: bool) -> Row:
        both.wait()  # one alone would wait in vain
        return row_of(attempt)

    side_by_side(run, ASKED, 2, heard)
    assert sorted(heard.starts) == sorted(heard.ends) == [0, 1, 2, 3]
    side_by_side(run, [], 2, heard)


def test_what_fails_is_raised() -> None:
    def run(attempt: Attempt, again: bool) -> Row:
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        side_by_side(run, ASKED, 2, Heard())
