"""Times of a process against its supervisor's clock, and against steps whose results were checked."""

from __future__ import annotations

import re
from typing import Any

import pytest

from suite.case import SAMPLING_PHASES
from suite.results.clocks import contradiction
from suite.sets.rows import metrics_json
from tests.results.rows import attempt_of, row_of

NONE = dict.fromkeys(("first", "second", *SAMPLING_PHASES), 0.0)


def metric(name: str, *values: float) -> dict[str, Any]:
    return {"name": name, "unit": "s", "kind": "clock", "values": list(values)}


def said(outside: dict[str, float], seconds: list[float], **columns: Any) -> str | None:
    """What is said of a row with these samples, whose phases took these seconds."""
    others = dict.fromkeys(("first_seconds", "second_seconds", "pipelined_seconds", "fetch_seconds"))
    row = row_of(attempt_of(), seconds) | others | columns
    return contradiction(row, NONE | outside if outside else {})


@pytest.mark.parametrize(
    ("outside", "claimed", "is_told"),
    [
        ({"steady": 20.0}, [0.1] * 21, True),  # a tenth of what it took
        ({"steady": 4.5}, [0.1] * 21, True),
        ({"steady": 3.5}, [0.1] * 21, False),  # collected, written and noticed late
        ({"steady": 1.5}, [0.1] * 21, False),
        ({"steady": 0.5}, [0.1] * 21, True),  # more than there was
        ({}, [0.1] * 2100, False),  # nobody has looked
        ({"steady": 0.0}, [10.0, 0.1], False),  # the third step isn't one of the steady ones
    ],
)
def test_samples_fit_between_the_supervisor_s_stamps(
    outside: dict[str, float], claimed: list[float], is_told: bool
) -> None:
    assert (said(outside, claimed) is not None) is is_told


def test_both_figures_are_told() -> None:
    words = said({"steady": 15.0, "fetch": 5.0}, [0.1] * 21)
    assert words == "its samples took 2.00 s by its own clock, and 20.0 s by its supervisor's"
    words = said({"first": 30.0, "steady": 2.0}, [0.1] * 21, first_seconds=0.5)
    assert words == "its first run took 500 ms by its own clock, and 30.0 s by its supervisor's"


def test_all_that_a_process_has_timed_counts() -> None:
    """The calls of pipelined samples, those that lead into a turn, and handing over after each turn."""
    side = {"pipelined_calls": 8, "pipelined_seconds": [0.1] * 10, "fetch_seconds": [0.1] * 10}
    assert said({"steady": 20.0}, [0.1] * 2) and not said({"steady": 1.0, "pipelined": 11.0}, [0.1] * 2, **side)
    turns = {"synced_rounds": [0, *range(1, 9)], "metrics": metrics_json([metric("lead-in", *[0.2] * 8)])}
    assert not said({"steady": 2.5, "hold": 1.5}, [0.01] * 9, **turns)
    assert said({"steady": 6.0, "hold": 1.5}, [0.01] * 9, **turns)
    rested = turns | {"metrics": metrics_json([metric("lead-in", *[0.2] * 8, 8.0)])}  # coming to rest before holds
    assert not said({"steady": 3.0, "hold": 12.0}, [0.01] * 9, **rested)


@pytest.mark.parametrize(
    ("fresh", "typical", "is_told"),
    [
        ([0.3, 0.25], 1e-4, True),
        ([0.3, 0.04], 1e-4, False),  # one of the two waited for something else
        ([0.3, 0.25], 0.02, False),
        ([0.3], 1e-4, True),
        ([0.2], 1e-4, False),
        ([], 1e-4, False),
    ],
)
def test_a_timed_step_takes_about_as_long_as_a_checked_one(fresh: list[float], typical: float, is_told: bool) -> None:
    words = said({}, [typical] * 30, metrics=metrics_json([metric("fresh steps", *fresh)]))
    assert (words is not None) is is_told
    if words:
        assert re.search("a timed step took 100 µs, and one on values .* (250|300) ms of each core", words)


def test_of_a_process_that_failed_nothing_is_said() -> None:
    assert said({"steady": 20.0}, [0.1] * 21, outcome="wrong") is None


def test_steps_that_another_process_checked_are_held_against_this_one() -> None:
    """Only the first block's process is gated: one that works there alone would be found in no other block."""
    row = row_of(attempt_of(block=2), [1e-4] * 30)
    assert contradiction(row, {}, [0.3, 0.25]) and not contradiction(row, {}, [0.3, 0.04])
