"""Nearness in time: which of a block's processes a stack is held against."""

from __future__ import annotations

import math

import pytest

from suite.protocol import Protocol
from suite.verdicts.pairing import Timing, best_mode, log_ratio, log_ratios, twin_log_ratios
from tests.results.rows import attempt_of, ratios, row_of


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


# --- rounds ---


def in_rounds(turns: dict[int, float], started: float = 0.0, replicate: int = 1, retry: int = 1) -> Timing:
    numbered = {(retry, number): seconds for number, seconds in turns.items()}
    return Timing(replicate, 0, started, 1.0, sampling="rounds", turns=numbered)


def test_a_ratio_is_formed_inside_each_round() -> None:
    """The machine is twice as slow in round 2; medians over all turns, or the time of starts, say nothing here."""
    stack = in_rounds({1: 0.010, 2: 0.020, 3: 0.010}, 50.0)
    baseline = in_rounds({2: 0.060, 3: 0.020, 4: 9.0})
    expected = (math.log(3) + math.log(2)) / 2
    assert log_ratio([stack], [baseline]) == pytest.approx(expected)
    assert log_ratio([baseline], [stack]) == pytest.approx(-expected)


def test_replicates_are_paired_each_by_itself() -> None:
    """A round is no slower for it if one of two replicates is."""
    baseline = [in_rounds({1: 0.010, 2: 0.030}), in_rounds({1: 0.040}, replicate=2)]
    assert log_ratio([in_rounds({1: 0.005, 2: 0.010})], baseline) == pytest.approx(math.log(3))
    slow = [in_rounds(dict.fromkeys(range(1, 8), 0.01)), in_rounds({n: 0.01 if n < 5 else 0.05 for n in range(1, 8)})]
    assert log_ratio([in_rounds(dict.fromkeys(range(1, 8), 0.01))], slow) == 0.0


def test_a_burst_in_a_few_rounds_moves_a_ratio_no_more_than_it_moves_a_median() -> None:
    stack = [in_rounds({n: 0.05 if n <= 3 else 0.01 for n in range(1, 9)})]
    assert log_ratio(stack, [in_rounds(dict.fromkeys(range(1, 9), 0.02))]) == pytest.approx(math.log(2))


def test_who_took_turns_apart_has_no_ratio() -> None:
    """Neither in other rounds, nor in the same ones of another run of the block."""
    assert log_ratio([in_rounds({1: 0.010})], [in_rounds({2: 0.010})]) is None
    assert log_ratio([in_rounds({1: 0.010})], [in_rounds({1: 0.010}, retry=2)]) is None
    assert log_ratios({1: [in_rounds({1: 0.010})]}, {1: [in_rounds({2: 0.010})]}) == {}


def test_the_two_ways_of_sampling_are_never_mixed() -> None:
    """Not in one block, and not over the blocks of a ratio: the way that more blocks have is taken."""
    turns, alone = in_rounds({1: 0.010}), at(0.020, 0.0)
    assert log_ratios({1: [turns]}, {1: [alone]}) == {}
    assert log_ratios({1: [turns, alone]}, {1: [alone]}) == {1: 0.0}
    stack = {1: [in_rounds({1: 0.010})], 2: [at(0.010, 0.0)], 3: [at(0.010, 0.0)]}
    baseline = {1: [in_rounds({1: 0.080})], 2: [at(0.020, 0.0)], 3: [at(0.020, 0.0)]}
    assert log_ratios(stack, baseline) == pytest.approx({2: math.log(2), 3: math.log(2)})
    del stack[3]
    assert log_ratios(stack, baseline) == pytest.approx({1: math.log(8)})


def test_twins_are_compared_inside_rounds_and_never_across_the_two_ways() -> None:
    first, second = in_rounds({1: 0.020, 2: 0.080}), in_rounds({1: 0.010, 2: 0.040}, replicate=2)
    apart = in_rounds({7: 5.0}, replicate=3)
    assert twin_log_ratios({1: [first, second, apart]}) == pytest.approx({1: math.log(2)})
    assert twin_log_ratios({1: [first, at(0.010, 0.0, replicate=2)]}) == {}


def test_rows_of_both_ways_give_no_verdict_together() -> None:
    rounds = {"sampling": "rounds", "synced_rounds": [0, 1, 1, 2, 2]}
    for other, count in (({"sampling": "alone"}, 0), (rounds, 1)):
        rows = [
            row
            for block in (1, 2, 3)
            for row in (
                row_of(attempt_of("numpy", block), 0.010, **rounds),
                row_of(attempt_of("jax_jit", block), 0.005, **other),
            )
        ]
        assert [round(each.ratio.value, 6) for each in ratios(rows, "numpy", Protocol())] == [2.0] * count
