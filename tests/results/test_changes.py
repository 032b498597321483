"""What changed between two revisions: shown only by the whole interval, whatever other programs did meanwhile."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.case import Flag
from suite.protocol import Protocol
from suite.results.analysis import analyse
from suite.results.changes import Change, changes
from suite.results.within_set import in_order
from suite.sets.rows import Row
from suite.stats import Estimate
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, row_of

THREE = Protocol(blocks=3, blocks_max=3)
FILE = plan_file(flags={"numpy@before": {"STACKWARS_REVISION": "abc"}, "numpy@after": {"STACKWARS_REVISION": "def"}})
PACE = (1.0, 1.1, 1.25)  # of each block, which a pairing takes out


def sides(slower: float, functions: tuple[str, ...] = ("f",), **columns: Any) -> list[Row]:
    """Two revisions in three blocks; the later one is slower."""
    return [
        row_of(
            attempt_of("numpy", block, variant=variant, implementation=function),
            0.01 * pace * (slower * (1 + 0.002 * block) if variant == "after" else 1),
            **columns,
        )
        for function, variant, (block, pace) in itertools.product(functions, ("before", "after"), enumerate(PACE, 1))
    ]


def changed(rows: list[Row], threshold: float = 1.05) -> list[Change]:
    return changes(FILE, analyse(rows, None, THREE, "numpy@before:f", None), threshold)


@pytest.mark.parametrize(
    ("slower", "threshold", "worse"), [(1.0, 1.05, False), (0.5, 1.05, False), (1.2, 1.05, True), (1.2, 1.3, False)]
)
def test_a_slower_revision_is_worse_from_the_threshold_on(slower: float, threshold: float, worse: bool) -> None:
    (change,) = changed(sides(slower), threshold)
    assert change.ratio and change.ratio.value == pytest.approx(slower, rel=0.01)
    assert (change.is_worse, change.is_decided, change.blocks) == (worse, True, None)
    assert change.stack == "numpy:f" and (change.base, change.revision) == ("before", "after")


def test_each_function_is_compared_with_itself() -> None:
    found = changed(sides(1.2, ("f", "g")))
    assert [(change.stack, change.is_worse) for change in found] == [("numpy:f", True), ("numpy:g", True)]


def test_other_programs_disturb_the_turns_of_both_alike() -> None:
    rounds = {"synced_rounds": [1, 1, 2, 2, 3], "sampling": "rounds", "flags": [str(Flag.DISTURBED)]}
    (change,) = changed(sides(1.2, **rounds))
    assert change.is_worse and not change.noise
    (change,) = changed(sides(1.2, flags=[str(Flag.DISTURBED)]))
    assert not change.is_worse and "other programs" in change.noise


@pytest.mark.parametrize(
    ("before", "after", "worse"),
    [
        ("ok", "error", True),
        ("error", "error", False),
        ("error", "ok", False),
        ("wrong", "wrong", True),
        ("differ", "differ", True),
        ("unsupported", "unsupported", False),
    ],
)
def test_how_both_end_counts(before: str, after: str, worse: bool) -> None:
    rows = sides(1.0)
    for row in rows:
        row["outcome"] = before if row["variant"] == "before" else after
        row["reason"] = "" if row["outcome"] == "ok" else "the reason"
    (change,) = changed(rows)
    assert change.outcomes == (before, after) and change.is_worse is worse and change.ratio is None
    assert change.reason == "the reason" and change.is_decided is worse
    assert math.isnan(change.to_json()["time_ratio"])


def test_a_set_without_revisions_has_none() -> None:
    assert changes(plan_file(), analyse(sides(1.2), None, THREE, "numpy@before:f", None), 1.05) == []


def test_what_was_before_comes_first_and_versions_by_their_numbers() -> None:
    assert in_order(["after", "before"]) == ["before", "after"]
    assert in_order(["v1.10", "v1.2", "as locked"]) == ["as locked", "v1.2", "v1.10"]


@given(st.floats(0.5, 2.0), st.floats(1.001, 2.0), st.integers(2, 20))
def test_more_blocks_are_asked_only_of_what_is_open(value: float, width: float, blocks: int) -> None:
    ratio = Estimate(value, value / width, value * width, blocks=blocks)
    change = Change("question", "numpy", "after", "before", ("ok", "ok"), "", 1.05, ratio)
    assert change.is_decided == (value / width > 1.05 or value * width <= 1.05)
    assert change.blocks is None or (not change.is_decided and change.blocks >= blocks)
