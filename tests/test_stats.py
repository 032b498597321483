"""Steady state, intervals, verdicts: known traces, properties, and a simulated coverage."""

from __future__ import annotations

import math
from statistics import median

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from suite.stats import (
    CLOSE,
    Estimate,
    blocks_needed,
    deviation,
    has_modes,
    holm,
    is_doubtful,
    mean_of,
    mser,
    outliers,
    percentile,
    ratio_of,
    reach,
    spread,
    steady_start,
    thirds_agree,
    verdict,
)

TIE = 1.03
CONFIDENCE = 0.95
logs = st.lists(st.floats(-3, 3), min_size=2, max_size=15)
durations = st.lists(st.floats(1e-7, 1e3), min_size=1, max_size=150)


def noisy(count: int, seed: int, spread: float = 0.03) -> np.ndarray:
    """Multiplicative noise with rare spikes, as seen on a shared machine."""
    random = np.random.default_rng(seed)
    trace = np.exp(random.normal(0, spread, count))
    trace[random.random(count) < 0.02] *= 3
    return 0.01 * trace


# --- where the steady state begins ---


@pytest.mark.parametrize(
    ("count", "warmup", "state"),
    [
        (1, 0, "assumed"),
        (2, 1, "assumed"),
        (5, 1, "assumed"),
        (19, 1, "assumed"),
        (20, 2, "assumed"),
        (39, 2, "assumed"),
    ],
)
def test_few_samples_can_only_be_assumed(count: int, warmup: int, state: str) -> None:
    found = steady_start(list(noisy(count, seed=count)))
    assert (found.warmup, found.state) == (warmup, state)


@pytest.mark.parametrize("count", [20, 39])
def test_the_thirds_check_holds_from_20_samples(count: int) -> None:
    drifting = noisy(count, seed=1, spread=0.01) * np.linspace(1, 2, count)
    assert steady_start(list(drifting)).state == "no_steady_state"
    assert steady_start(list(drifting[:19])).state == "assumed"


@pytest.mark.parametrize(("count", "allowed"), [(40, 6), (100, 10), (200, 6), (1000, 6)])
def test_flat_traces_are_steady(count: int, allowed: int) -> None:
    """The protocol's false alarms: at most 6 % from 200 samples on."""
    alarms = sum(steady_start(list(noisy(count, seed))).state != "steady" for seed in range(100))
    assert alarms <= allowed


@pytest.mark.parametrize("count", [40, 60, 100, 300])
@pytest.mark.parametrize("slope", [0.5, -0.5])
def test_trends_are_caught(count: int, slope: float) -> None:
    caught = 0
    for seed in range(20):
        trace = noisy(count, seed) * np.exp(slope * np.linspace(0, 1, count))
        caught += steady_start(list(trace)).state == "no_steady_state"
    assert caught == 20


@pytest.mark.parametrize("count", [100, 200, 500])
def test_a_late_step_is_caught(count: int) -> None:
    for seed in range(20):
        trace = noisy(count, seed)
        trace[int(0.7 * count) :] *= 1.5
        assert steady_start(list(trace)).state == "no_steady_state"


@pytest.mark.parametrize(("count", "size"), [(60, 3), (200, 5), (1000, 5)])
def test_a_slow_start_is_dropped(count: int, size: int) -> None:
    slow, steady = count // 6, 0
    for seed in range(20):
        trace = noisy(count, seed)
        trace[:slow] *= 4
        found = steady_start(list(trace))
        assert slow - size < found.warmup <= count / 2
        assert found.warmup % size == 0
        steady += found.state == "steady"
    assert steady >= 17  # few batches left: some false alarms


def test_slow_first_samples_do_not_count_as_drift_where_they_are_dropped() -> None:
    """With 20 to 39 samples the first two may be anything."""
    trace = [5.0, 3.0, *noisy(28, seed=3)]
    assert steady_start(trace).state == "assumed"


@given(durations, st.floats(1e-3, 1e3))
def test_steady_start_is_within_the_samples(samples: list[float], scale: float) -> None:
    found = steady_start(samples)
    assert 0 <= found.warmup < len(samples)
    if found.state == "steady":
        assert len(samples) >= 40 and found.warmup < len(samples) / 2
    else:
        assert (found.state == "assumed") <= (len(samples) < 40)


@given(st.floats(1e-7, 1e3), st.integers(40, 300))
def test_equal_samples_are_steady(value: float, count: int) -> None:
    assert steady_start([value] * count).state == "steady"


@given(st.lists(st.floats(-10, 10), min_size=2, max_size=40))
def test_mser_is_the_argmin(values: list[float]) -> None:
    found = mser(values)
    assert 0 <= found <= len(values) // 2
    array = np.array(values)
    all_ = [
        float(((array[d:] - array[d:].mean()) ** 2).sum() / (len(array) - d) ** 2) for d in range(len(array) // 2 + 1)
    ]
    assert all_[found] <= min(all_) + 1e-12 * max(1.0, min(all_))


def test_thirds_within_one_percent_never_drift() -> None:
    """A trace of no noise at all has no standard error: the floor of 0.01 stands."""
    assert thirds_agree([0.0] * 10 + [0.005] * 10 + [0.0099] * 10)
    assert not thirds_agree([0.0] * 10 + [0.005] * 10 + [0.0101] * 10)


def test_deviation() -> None:
    assert deviation([1.0, 2.0, 3.0, 4.0, 100.0]) == 1.0


# --- ratios ---


def test_ratio_by_hand() -> None:
    values = [math.log(2.0), math.log(2.2), math.log(1.8)]
    found = ratio_of(values, 2, CONFIDENCE)
    half = 4.302652729911275 * np.std(values, ddof=1) / math.sqrt(3)
    assert found.value == pytest.approx((2.0 * 2.2 * 1.8) ** (1 / 3))
    assert found.low == pytest.approx(found.value * math.exp(-half))
    assert found.high == pytest.approx(found.value * math.exp(half))
    assert found.p == pytest.approx(scipy_stats.ttest_1samp(values, 0.0).pvalue)
    assert found.blocks == 3


def test_a_mean_of_differences_by_hand() -> None:
    found = mean_of([0.1, -0.2, 0.4], 2, CONFIDENCE)
    low, high = scipy_stats.t.interval(0.95, 2, 0.1, scipy_stats.sem([0.1, -0.2, 0.4]))
    assert (found.value, found.low, found.high) == pytest.approx((0.1, low, high))
    assert mean_of([0.1], 0, CONFIDENCE) == Estimate(0.1, blocks=1)


def test_the_first_stage_gives_the_degrees_of_freedom() -> None:
    values = list(np.random.default_rng(0).normal(0, 0.1, 12))
    first, all_ = ratio_of(values, 4, CONFIDENCE), ratio_of(values, 11, CONFIDENCE)
    assert first.value == all_.value
    assert first.low is not None and all_.low is not None and first.high is not None and all_.high is not None
    wider = math.log(first.high / first.low) / math.log(all_.high / all_.low)
    assert wider == pytest.approx(scipy_stats.t.ppf(0.975, 4) / scipy_stats.t.ppf(0.975, 11))


@given(logs, st.integers(1, 14))
def test_the_inverse_question_has_the_inverse_answer(values: list[float], freedom: int) -> None:
    one, other = ratio_of(values, freedom, CONFIDENCE), ratio_of([-v for v in values], freedom, CONFIDENCE)
    assert other.value == pytest.approx(1 / one.value)
    assert one.low is not None and one.high is not None and other.low is not None and other.high is not None
    # Intervals may overflow to infinity or 0 for absurd spreads: compare where they are finite.
    assume(one.high < 1e300 and other.high < 1e300)
    assert other.low == pytest.approx(1 / one.high)
    assert other.high == pytest.approx(1 / one.low)
    assert other.p == pytest.approx(one.p)
    swapped = {"faster": "slower", "slower": "faster"}
    said = verdict(one, TIE)
    assert verdict(other, TIE) == swapped.get(said, said) or touches(one)


def touches(ratio: Estimate) -> bool:
    """Whether rounding alone decides the verdict."""
    ends = (ratio.low or 0.0, ratio.high or 0.0)
    return any(math.isclose(end, edge, rel_tol=1e-9) for end in ends for edge in (1 / TIE, 1.0, TIE))


@pytest.mark.parametrize(("values", "freedom"), [([0.7], 0), ([0.7], 4), ([0.7, 0.7], 0)])
def test_one_block_has_no_interval(values: list[float], freedom: int) -> None:
    found = ratio_of(values, freedom, CONFIDENCE)
    assert (found.low, found.high, found.p) == (None, None, None)
    assert found.value == pytest.approx(math.exp(0.7))
    assert verdict(found, TIE) == "undecided"


def test_coverage_of_the_interval() -> None:
    """Seeded: 95 % intervals of five blocks cover the truth about 95 times in 100."""
    random = np.random.default_rng(20)
    trials, truth, covered = 800, math.log(1.4), 0
    for _ in range(trials):
        found = ratio_of(list(random.normal(truth, 0.08, 5)), 4, CONFIDENCE)
        assert found.low is not None and found.high is not None
        covered += found.low <= 1.4 <= found.high
    assert 0.93 <= covered / trials <= 0.97


def test_equal_blocks_that_differ_from_1_are_certain() -> None:
    found = ratio_of([0.5, 0.5, 0.5], 2, CONFIDENCE)
    assert found.p == 0.0 and verdict(found, TIE) == "faster"
    same = ratio_of([0.0, 0.0, 0.0], 2, CONFIDENCE)
    assert same.p == 1.0 and verdict(same, TIE) == "tie"


# --- verdicts ---


@pytest.mark.parametrize(
    ("low", "high", "word"),
    [
        (0.98, 1.02, "tie"),
        (1 / TIE, TIE, "tie"),
        (1.001, 1.029, "tie"),
        (1.01, 1.2, "faster"),
        (0.5, 0.99, "slower"),
        (0.9, 1.1, "undecided"),
        (0.92, 1.08, "close"),
        (1 / CLOSE, CLOSE, "close"),
        (0.92, 1.11, "undecided"),
        (0.96, 1.0, "slower"),
        (1.0, 1.5, "faster"),
        (1.0, 1.03, "tie"),
        (1.5, 1.6, "faster"),
    ],
)
def test_five_words(low: float, high: float, word: str) -> None:
    assert verdict(Estimate(math.sqrt(low * high), low, high, 0.01, 5), TIE) == word


@given(st.floats(0.2, 5), st.floats(1, 3))
def test_words_mean_what_they_say(value: float, width: float) -> None:
    low, high = value / width, value * width
    said = verdict(Estimate(value, low, high, 0.01, 5), TIE)
    inside = low >= 1 / TIE and high <= TIE
    assert (said == "tie") == inside
    if said == "faster":
        assert low >= 1
    if said == "slower":
        assert high <= 1


def test_the_confidence_and_the_tie_band_are_the_caller_s() -> None:
    values = [math.log(2.0), math.log(2.2), math.log(1.8)]
    wide, narrow = ratio_of(values, 2, 0.99), ratio_of(values, 2, 0.5)
    assert (wide.low or 0) < (narrow.low or 0) < narrow.value < (narrow.high or 0) < (wide.high or 0)
    ratio = Estimate(1.05, 1.04, 1.06, 0.02, 5)
    assert verdict(ratio, 1.1) == "tie" and verdict(ratio, 1.03) == "faster"
    needed = [blocks_needed([ratio_of([0.0, 0.2, 0.1], 2, 0.95)], 3, 99_999, tie) for tie in (1.03, 1.2)]
    assert needed[0] > needed[1]


@pytest.mark.parametrize(
    ("floor", "doubtful"),
    [
        (Estimate(1.0, 0.8, 1.25, 0.9, 3), False),
        (Estimate(1.02, 1.001, 1.04, 0.04, 3), True),
        (Estimate(1.02, 1.001, 1.04, 0.3, 3), False),
        (Estimate(1.5, None, None, None, 1), False),
    ],
    ids=["wide", "sure", "sure by itself alone", "one block"],
)
def test_a_noise_floor_is_doubtful_if_its_p_among_all_says_so(floor: Estimate, doubtful: bool) -> None:
    assert is_doubtful(floor, 0.95) == doubtful


def test_holm_s_p_by_hand_whatever_the_order() -> None:
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.9, 0.8]) == [1.0, 1.0] and holm([]) == []


def test_the_reach_is_the_half_width_of_an_interval() -> None:
    assert reach(Estimate(1.0, 1 / 1.04, 1.04)) == pytest.approx(1.04)
    assert reach(Estimate(2.0, 1.9, 1.9 * 1.21)) == pytest.approx(1.1)
    assert reach(Estimate(1.0)) is None


# --- modes ---


@pytest.mark.parametrize(
    ("seconds", "said"),
    [
        ([], False),
        ([1.0], False),
        ([1.0, 1.3], False),
        ([1.31, 1.0], True),
        ([0.01, 0.012, 0.036], True),
        ([1.0, 1.1, 1.2, 1.29], False),
    ],
)
def test_two_modes_are_a_spread_that_noise_does_not_have(seconds: list[float], said: bool) -> None:
    assert has_modes(seconds) == said


# --- second stage, order statistics ---


def test_blocks_needed_by_hand() -> None:
    """The width goes with the root of the blocks, the critical value stays that of the interval."""
    values = [0.0, 0.04, -0.04, 0.02, -0.02]
    wanted = math.ceil((2.7764451 * float(np.std(values, ddof=1)) / math.log(1.03)) ** 2)
    assert 5 < wanted < 15
    narrow, wide = ratio_of([0.0] * 5, 4, CONFIDENCE), ratio_of(values, 4, CONFIDENCE)
    assert blocks_needed([narrow, wide], least=5, most=15, tie=TIE) == wanted
    assert blocks_needed([ratio_of(values, 4, 0.99)], least=5, most=99, tie=TIE) > wanted


@given(st.lists(logs, max_size=5))
def test_blocks_needed_stays_in_its_bounds(values: list[list[float]]) -> None:
    ratios = [ratio_of(each, len(each) - 1, CONFIDENCE) for each in values]
    assert 5 <= blocks_needed(ratios, least=5, most=15, tie=TIE) <= 15


def test_nothing_to_compare_needs_no_second_stage() -> None:
    assert blocks_needed([], least=5, most=15, tie=TIE) == 5
    assert blocks_needed([ratio_of([0.3], 0, CONFIDENCE)], least=5, most=15, tie=TIE) == 5


def test_an_interval_that_is_wider_than_a_float_needs_all_blocks() -> None:
    assert blocks_needed([Estimate(1.0, 5e-324, 1e308, 0.9, 2)], least=5, most=15, tie=TIE) == 15


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60), st.floats(0, 100))
def test_percentile_is_numpys(values: list[float], percent: float) -> None:
    assert percentile(values, percent) == pytest.approx(float(np.percentile(values, percent)), rel=1e-9, abs=1e-6)
    assert percentile(values, 50) == pytest.approx(median(values), abs=1e-6)


def test_percentile_of_nothing_is_unknown() -> None:
    assert math.isnan(percentile([], 50))


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=60))
def test_spread_is_the_sample_deviation(values: list[float]) -> None:
    assert spread(values) == pytest.approx(float(np.std(values, ddof=1)), abs=1e-9)


def test_outliers_are_counted_by_tukeys_far_fence() -> None:
    ordinary = [1.0, 1.1, 1.2, 1.3, 1.4] * 4
    assert outliers(ordinary) == 0
    assert outliers([*ordinary, 9.0, 0.01]) == 2
    assert outliers([1.0, 2.0, 900.0]) == 0  # three can't tell
