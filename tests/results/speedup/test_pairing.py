"""Nearness in time: which of a block's processes a stack is held against."""

from __future__ import annotations

import math

import pytest

from suite.results.speedup.pairing import Timing, best_mode, log_ratio


def at(seconds: float, started: float | None, order: float = 0, replicate: int = 1) -> Timing:
    return Timing(replicate, order, started, seconds)


@pytest.mark.parametrize(
    ("when", "against"),
    [
        (0.0, 0.010),
        (10.0, 0.010),
        (15.0, math.sqrt(0.010 * 0.020)),
        (12.5, 0.010 * 2**0.25),
        (20.0, 0.020),
        (25.0, math.sqrt(0.020 * 0.040)),
        (99.0, 0.040),
    ],
    ids=["before all", "with the first", "half-way", "a quarter", "with the second", "between later ones", "after all"],
)
def test_a_stack_is_held_against_the_baseline_of_its_own_moment(when: float, against: float) -> None:
    baseline = [at(0.040, 30.0, replicate=3), at(0.010, 10.0), at(0.020, 20.0, replicate=2)]
    assert log_ratio([at(0.005, when)], baseline) == pytest.approx(math.log(against / 0.005))
    assert log_ratio(baseline, [at(0.005, when)]) == pytest.approx(-math.log(against / 0.005))


def test_without_a_clock_the_order_is_the_time() -> None:
    baseline = [at(0.010, 500.0, order=1), at(0.020, 900.0, order=5, replicate=2)]
    assert log_ratio([at(0.005, None, order=2)], baseline) == pytest.approx(math.log(0.010 * 2**0.25 / 0.005))


def test_replicates_of_one_moment_are_averaged() -> None:
    baseline = [at(0.010, 10.0), at(0.040, 10.0, replicate=2)]
    for when in (0.0, 10.0, 99.0):
        assert log_ratio([at(0.005, when)], baseline) == pytest.approx(math.log(0.020 / 0.005))


def test_the_best_mode_is_told_from_its_middle_not_from_its_luckiest_process() -> None:
    """0.0126 is more than 1.3 times the fastest, but not two modes away from the middle of the fast ones."""
    timings = {block: [at(seconds, 0.0)] for block, seconds in enumerate((0.0096, 0.0105, 0.0106, 0.0126, 0.0150), 1)}
    assert sorted(best_mode(timings)) == [1, 2, 3, 4]
