"""Many ratios against one control: moderated variances, simultaneous intervals, step-down, against other sources."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from suite.results.speedup import moderation
from suite.results.speedup.family import Pool, Sample, at_level, critical, cut, simultaneous
from suite.results.speedup.moderation import moderate
from suite.results.speedup.reference import reference_of
from suite.stats import Estimate, ratio_of

CONFIDENCE = 0.95


def logs_of(count: int, blocks: int, seed: int = 0) -> list[list[float]]:
    random = np.random.default_rng(seed)
    return [list(random.normal(0.02, 0.05, blocks)) for _ in range(count)]


def samples(count: int, blocks: int, questions: int = 1) -> list[Sample]:
    return [Sample.of(str(i % questions), logs, blocks - 1) for i, logs in enumerate(logs_of(count, blocks))]


def half_width(ratio: Estimate) -> float:
    assert ratio.low is not None and ratio.high is not None
    return math.log(ratio.high / ratio.low) / 2


# --- variances ---


def test_one_ratio_alone_has_student_s_interval() -> None:
    [sample], [logs] = samples(1, 5), logs_of(1, 5)
    [found], student = simultaneous(Pool.of([sample]), [0], CONFIDENCE), ratio_of(logs, 4, CONFIDENCE)
    assert found.value == pytest.approx(student.value)
    assert half_width(found) == pytest.approx(half_width(student), rel=1e-6)
    assert found.p == pytest.approx(student.p)
    [exact] = at_level(Pool.of([sample]), [0], 0.05)
    assert (exact.low, exact.high, exact.p) == pytest.approx((student.low, student.high, student.p))


def test_variances_that_agree_lend_strength_up_to_the_limit() -> None:
    """Of 200 ratios with one variance and two degrees of freedom each, the set's variance weighs as much as it may."""
    random = np.random.default_rng(1)
    variances = 0.04**2 * random.chisquare(2, 200) / 2
    found = moderate(variances, np.full(200, 3.0), np.full(200, 2.0))
    assert set(found.freedoms) == {2 + moderation.PRIOR_FREEDOM_MAX}
    most = moderation.PRIOR_FREEDOM_MAX
    expected = np.sqrt((most * 0.04**2 + 2 * variances) / (most + 2) / 3)
    assert found.errors == pytest.approx(expected, rel=0.15)


def test_the_prior_is_smyth_s() -> None:
    """Variances drawn from the model itself give back its d0 and s0^2 (2004, section 3)."""
    random = np.random.default_rng(2)
    true = 3 * 0.05**2 / random.chisquare(3, 20_000)
    variances = true * random.chisquare(4, 20_000) / 4
    found = moderate(variances, np.full(20_000, 5.0), np.full(20_000, 4.0))
    assert found.freedoms[0] - 4 == pytest.approx(3, abs=0.5)
    expected = np.sqrt((3 * 0.05**2 + 4 * variances) / 7 / 5)
    assert found.errors == pytest.approx(expected, rel=0.1)


def test_variances_that_disagree_stand_alone() -> None:
    variances = np.array([1e-8, 1e-2, 1e4])
    found = moderate(variances, np.full(3, 15.0), np.full(3, 14.0))
    assert found.errors == pytest.approx(np.sqrt(variances / 15), rel=0.1)
    assert max(found.freedoms) <= 14.5


@given(st.lists(st.floats(0, 10), min_size=2, max_size=20), st.integers(2, 15))
def test_a_moderated_variance_lies_between_its_own_and_the_common_one(values: list[float], blocks: int) -> None:
    variances, count = np.array(values), len(values)
    found = moderate(variances, np.full(count, float(blocks)), np.full(count, blocks - 1.0))
    assert np.all(np.isfinite(found.errors)) and np.all(found.errors >= 0)
    order = np.argsort(variances)
    assert np.all(np.diff(found.errors[order]) >= -1e-12), "who varies more is never said to vary less"


# --- families ---


def test_the_critical_value_is_dunnett_s() -> None:
    """Nine stacks, one control, equal variances: the multivariate t with correlation 1/2 of Dunnett (1955)."""
    pool = samples(9, 15)
    level = critical(Pool.of(pool), range(9), CONFIDENCE)
    freedom = 14 + moderation.PRIOR_FREEDOM_MAX
    ours = stats.t.isf(level / 2, freedom)
    shape = np.full((9, 9), 0.5) + np.eye(9) / 2
    joint = stats.multivariate_t(shape=shape, df=freedom, seed=1)
    inside = joint.cdf(np.full(9, ours), lower_limit=np.full(9, -ours))
    assert inside == pytest.approx(CONFIDENCE, abs=0.015)


def test_more_ratios_make_wider_intervals_and_a_part_of_them_narrower_ones() -> None:
    pool = samples(18, 3, questions=2)
    levels = [critical(Pool.of(pool), range(count), CONFIDENCE) for count in (1, 3, 9, 18)]
    assert levels == sorted(levels, reverse=True) and levels[-1] < levels[0] / 5
    widths = [half_width(simultaneous(Pool.of(pool), range(count), CONFIDENCE)[0]) for count in (1, 9, 18)]
    assert widths == sorted(widths)


def test_equal_stacks_go_beyond_the_level_as_often_as_it_says() -> None:
    pool = samples(9, 5)
    level = critical(Pool.of(pool), range(9), CONFIDENCE)
    equal = reference_of(Pool.of(pool).shape)
    assert np.mean(np.min([equal.p(ratio) for ratio in range(9)], axis=0) < level) == pytest.approx(0.05, abs=0.001)
    assert np.mean(equal.p(0) < 0.05) == pytest.approx(0.05, abs=0.015)


def test_ratios_of_few_blocks_have_wide_intervals_and_leave_the_others_theirs() -> None:
    """A stack that ran in two blocks only must not cost the others what they know."""
    many = samples(9, 5)
    mixed = [*many[:-1], Sample.of("0", logs_of(9, 5)[-1][:2], 1)]
    alike, other = simultaneous(Pool.of(many), range(9), CONFIDENCE), simultaneous(Pool.of(mixed), range(9), CONFIDENCE)
    assert half_width(other[0]) < 1.2 * half_width(alike[0])
    assert other[-1].blocks == 2 and half_width(other[-1]) > 1.3 * half_width(other[0])


def test_a_second_stage_keeps_the_freedom_of_the_first() -> None:
    pool = samples(9, 12)
    first = [replace(each, freedom=4) for each in pool]
    kept, all_ = simultaneous(Pool.of(first), range(9), CONFIDENCE), simultaneous(Pool.of(pool), range(9), CONFIDENCE)
    assert half_width(kept[0]) > half_width(all_[0])


def test_step_down_finds_what_one_step_does_not() -> None:
    """Eight stacks are surely faster; the ninth then has nobody left to be confused with, and is decided by itself."""
    random = np.random.default_rng(4)
    noise = random.normal(0, 0.03, (9, 5))
    noise -= noise.mean(axis=1, keepdims=True)
    pool = [Sample.of("0", tuple(noise[i] + (1.0 if i < 8 else 0.0)), 4) for i in range(9)]
    level = critical(Pool.of(pool), range(9), CONFIDENCE)
    found = Pool.of(pool).errors
    error, freedom = found.errors[8], found.freedoms[8]
    between = (stats.t.isf(level / 2, freedom) + stats.t.isf(0.025, freedom)) / 2 * error
    pool[8] = Sample.of("0", tuple(noise[8] + between), 4)
    ninth = simultaneous(Pool.of(pool), range(9), CONFIDENCE)[8]
    assert ninth.low is not None and ninth.low < 1 < ninth.value and ninth.p is not None and ninth.p < 0.05
    assert cut(ninth, CONFIDENCE).low == 1.0 and cut(ninth, CONFIDENCE).high == ninth.high
    crowd = [*pool[:7], Sample.of("0", tuple(noise[7]), 4), pool[8]]
    assert (simultaneous(Pool.of(crowd), range(9), CONFIDENCE)[8].p or 0) > ninth.p


@pytest.mark.parametrize(
    ("ratio", "low", "high"),
    [
        (Estimate(1.1, 0.9, 1.3, 0.2, 5), 0.9, 1.3),
        (Estimate(1.1, 0.99, 1.3, 0.04, 5), 1.0, 1.3),
        (Estimate(0.9, 0.7, 1.01, 0.04, 5), 0.7, 1.0),
        (Estimate(1.3, 1.1, 1.5, 0.01, 5), 1.1, 1.5),
        (Estimate(1.3), None, None),
    ],
)
def test_an_interval_ends_at_1_where_step_down_decides(ratio: Estimate, low: float, high: float) -> None:
    assert (cut(ratio, CONFIDENCE).low, cut(ratio, CONFIDENCE).high) == (low, high)


def test_the_order_of_ratios_does_not_matter() -> None:
    pool = samples(6, 3)
    turned = pool[::-1]
    one, other = (simultaneous(Pool.of(each), range(6), CONFIDENCE) for each in (pool, turned))
    other = other[::-1]
    assert [each.low for each in one] == pytest.approx([each.low for each in other])
    assert [each.p for each in one] == pytest.approx([each.p for each in other], abs=0.02)


def test_blocks_that_agree_to_the_last_digit_are_certain() -> None:
    pool = [Sample.of("0", (0.5,) * 3, 2), Sample.of("0", (0.0,) * 3, 2)]
    sure, same = simultaneous(Pool.of(pool), range(2), CONFIDENCE)
    assert sure.low is not None and sure.low > 1.4 and same.p == 1.0
    assert simultaneous(Pool.of(pool), [], CONFIDENCE) == []


def test_an_interval_may_be_wider_than_a_float() -> None:
    [found] = at_level(Pool.of([Sample.of("0", (-300.0, 300.0), 1)]), [0], 1e-6)
    assert found.low is not None and found.high is not None and 0 < found.low < found.high < math.inf
