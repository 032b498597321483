"""Many ratios judged at once: moderated variances, simultaneous intervals, step-down, against other sources."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from suite.stats import Estimate, Mean, ratio_of
from suite.verdicts import moderation
from suite.verdicts.family import cut, stepped_down, together
from suite.verdicts.moderation import moderate

CONFIDENCE = 0.95


def logs_of(count: int, blocks: int, seed: int = 0) -> list[list[float]]:
    random = np.random.default_rng(seed)
    return [list(random.normal(0.02, 0.05, blocks)) for _ in range(count)]


def means(count: int, blocks: int) -> list[Mean]:
    return [Mean.of(logs, blocks - 1) for logs in logs_of(count, blocks)]


def judged(means: Iterable[Mean]) -> list[Estimate]:
    """The ratios of means that are moderated and judged together."""
    return [*stepped_down(moderate(dict(enumerate(means))), CONFIDENCE).values()]


def moderated(variances: Iterable[float], blocks: int) -> tuple[np.ndarray, np.ndarray]:
    """The moderated errors of variances of so many blocks, and their degrees of freedom."""
    own = {i: Mean(0.0, math.sqrt(variance / blocks), blocks - 1, blocks) for i, variance in enumerate(variances)}
    found = moderate(own).values()
    return np.array([mean.error for mean in found]), np.array([mean.freedom for mean in found])


def half_width(ratio: Estimate) -> float:
    assert ratio.low is not None and ratio.high is not None
    return math.log(ratio.high / ratio.low) / 2


# --- variances ---


def test_one_ratio_alone_has_student_s_interval() -> None:
    [mean], [logs] = means(1, 5), logs_of(1, 5)
    [found], student = judged([mean]), stats.ttest_1samp(logs, 0)
    low, high = student.confidence_interval(CONFIDENCE)
    assert (found.low, found.high, found.p) == pytest.approx((math.exp(low), math.exp(high), student.pvalue))
    assert found == ratio_of(logs, 4, CONFIDENCE)


def test_variances_that_agree_lend_strength_up_to_the_limit() -> None:
    """Of 200 ratios with one variance and two degrees of freedom each, the set's variance weighs as much as it may."""
    random = np.random.default_rng(1)
    variances = 0.04**2 * random.chisquare(2, 200) / 2
    errors, freedoms = moderated(variances, 3)
    most = moderation.PRIOR_FREEDOM_MAX
    assert set(freedoms) == {2 + most}
    assert errors == pytest.approx(np.sqrt((most * 0.04**2 + 2 * variances) / (most + 2) / 3), rel=0.15)


def test_the_prior_is_smyth_s() -> None:
    """Variances drawn from the model itself give back its d0 and s0^2 (2004, section 3)."""
    random = np.random.default_rng(2)
    true = 3 * 0.05**2 / random.chisquare(3, 20_000)
    variances = true * random.chisquare(4, 20_000) / 4
    errors, freedoms = moderated(variances, 5)
    assert freedoms[0] - 4 == pytest.approx(3, abs=0.5)
    assert errors == pytest.approx(np.sqrt((3 * 0.05**2 + 4 * variances) / 7 / 5), rel=0.1)


def test_variances_that_disagree_stand_alone() -> None:
    variances = np.array([1e-8, 1e-2, 1e4])
    errors, freedoms = moderated(variances, 15)
    assert errors == pytest.approx(np.sqrt(variances / 15), rel=0.1)
    assert max(freedoms) <= 14.5


@given(st.lists(st.floats(0, 10), min_size=2, max_size=20), st.integers(2, 15))
def test_a_moderated_variance_lies_between_its_own_and_the_common_one(variances: list[float], blocks: int) -> None:
    errors, _ = moderated(variances, blocks)
    assert np.all(np.isfinite(errors)) and np.all(errors >= 0)
    assert np.all(np.diff(errors[np.argsort(variances)]) >= -1e-12), "who varies more is never said to vary less"


# --- families ---


def test_the_intervals_of_a_family_are_bonferroni_s_and_p_is_holm_s() -> None:
    found, alone = judged(means(9, 15)), moderate(dict(enumerate(means(9, 15))))
    for ratio, mean in zip(together(alone, CONFIDENCE).values(), alone.values(), strict=True):
        half = stats.t.isf(0.05 / 9 / 2, mean.freedom) * mean.error
        assert half_width(ratio) == pytest.approx(half)
    smallest = min(mean.p for mean in alone.values())
    assert min(ratio.p or 0 for ratio in found) == pytest.approx(min(1, 9 * smallest))


def test_the_intervals_are_hardly_wider_than_dunnett_s() -> None:
    """Nine stacks, one control, equal variances: with the multivariate t with correlation 1/2 of Dunnett (1955) they
    cover the truth a little more often than they must."""
    freedom = 14 + moderation.PRIOR_FREEDOM_MAX
    ours = stats.t.isf(0.05 / 9 / 2, freedom)
    joint = stats.multivariate_t(shape=np.full((9, 9), 0.5) + np.eye(9) / 2, df=freedom, seed=1)
    assert CONFIDENCE <= joint.cdf(np.full(9, ours), lower_limit=np.full(9, -ours)) < 0.97


def test_more_ratios_make_wider_intervals_and_a_part_of_them_narrower_ones() -> None:
    all_ = moderate(dict(enumerate(means(18, 3))))
    families = ({i: all_[i] for i in range(count)} for count in (1, 9, 18))
    widths = [half_width(together(family, CONFIDENCE)[0]) for family in families]
    assert widths == sorted(widths)


def test_ratios_of_few_blocks_have_wide_intervals_and_leave_the_others_theirs() -> None:
    """A stack that ran in two blocks only must not cost the others what they know."""
    many = means(9, 5)
    alike, other = judged(many), judged([*many[:-1], Mean.of(logs_of(9, 5)[-1][:2], 1)])
    assert half_width(other[0]) < 1.2 * half_width(alike[0])
    assert other[-1].blocks == 2 and half_width(other[-1]) > 1.3 * half_width(other[0])


def test_a_second_stage_keeps_the_freedom_of_the_first() -> None:
    pool = means(9, 12)
    assert half_width(judged([replace(each, freedom=4) for each in pool])[0]) > half_width(judged(pool)[0])


def test_step_down_finds_what_one_step_does_not() -> None:
    """Eight stacks are surely faster; the ninth then has nobody left to be confused with, and is decided by itself."""
    random = np.random.default_rng(4)
    noise = random.normal(0, 0.03, (9, 5))
    noise -= noise.mean(axis=1, keepdims=True)
    pool = [Mean.of(noise[i] + (1.0 if i < 8 else 0.0), 4) for i in range(9)]
    ninth = moderate(dict(enumerate(pool)))[8]
    between = (ninth.half(0.05 / 9) + ninth.half(0.05)) / 2
    found = judged([*pool[:8], replace(pool[8], value=between)])[8]
    assert found.p is not None and found.p < 0.05
    assert found.low == 1.0, "the simultaneous interval contains 1: it is ended there"
    assert found.high == pytest.approx(math.exp(between + ninth.half(0.05 / 9)))
    crowd = judged([*pool[:7], replace(pool[7], value=0.0), replace(pool[8], value=between)])[8]
    assert (crowd.p or 0) == pytest.approx(2 * found.p)


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
    pool = means(6, 3)
    one, other = judged(pool), judged(pool[::-1])[::-1]
    assert [each.low for each in one] == pytest.approx([each.low for each in other])
    assert [each.p for each in one] == pytest.approx([each.p for each in other])


def test_blocks_that_agree_to_the_last_digit_are_certain() -> None:
    sure, same = judged([Mean.of((0.5,) * 3, 2), Mean.of((0.0,) * 3, 2)])
    assert sure.low is not None and sure.low > 1.4 and same.p == 1.0
    assert judged([]) == []


def test_an_interval_may_be_wider_than_a_float() -> None:
    found = Mean.of((-300.0, 300.0), 1).ratio(1e-6)
    assert found.low is not None and found.high is not None and 0 < found.low < found.high < math.inf
