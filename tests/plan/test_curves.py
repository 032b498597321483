"""Curves through peaks: lines and squares are found again, and what isn't one says so by its error."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.plan.search.curves import SIZE_MAX, MemoryCurve, curve

GIB = 2.0**30
BATCHES = (1, 2, 4, 8, 16)


@given(fixed=st.floats(0.1, 20.0), item=st.floats(0.01, 5.0), sizes=st.sets(st.integers(1, 64), min_size=2))
def test_a_line_comes_back(fixed: float, item: float, sizes: set[int]) -> None:
    found = curve({size: (fixed + item * size) * GIB for size in sizes}, "batch")
    assert found is not None and found.is_good
    assert found.fixed_bytes == pytest.approx(fixed * GIB, rel=1e-5)
    assert found.item_bytes == pytest.approx(item * GIB, rel=1e-5)
    assert (found.since, found.points) == (min(sizes), len(sizes))


@given(item=st.floats(1e-4, 1e-2), square=st.floats(1e-6, 1e-4))
def test_a_square_comes_back_along_a_sequence(item: float, square: float) -> None:
    found = curve({t: (1 + item * t + square * t * t) * GIB for t in (16, 64, 128, 256, 512)}, "seq")
    assert found is not None and found.error < 1e-6
    assert found.at(1024) == pytest.approx((1 + item * 1024 + square * 1024**2) * GIB, rel=1e-4)


def test_sizes_at_which_something_else_has_the_peak_are_left_out() -> None:
    """A compiler takes 2 GiB, whatever the batch."""
    found = curve({b: max(2.0, 1.0 + 0.2 * b) * GIB for b in (1, 2, 4, 8, 16, 32)}, "batch")
    assert found is not None and found.is_good
    assert found.since > 2 and found.points >= 3
    assert found.largest(6 * GIB) in (24, 25, 26)


def test_what_is_no_line_says_how_far_it_is_off() -> None:
    found = curve({1: GIB, 2: 3 * GIB, 4: 3.1 * GIB, 8: 9 * GIB}, "batch")
    assert found is not None and not found.is_good and found.error > 0.05


@pytest.mark.parametrize("peaks", [{}, {4: GIB}, {1: 2 * GIB, 8: GIB}, {1: GIB, 2: GIB}])
def test_without_growth_there_is_no_curve(peaks: dict[int, float]) -> None:
    assert curve(peaks, "batch") is None


@given(fixed=st.floats(0, 10), item=st.floats(0.01, 5), limit=st.floats(0.1, 100))
def test_the_largest_size_is_the_last_under_the_limit(fixed: float, item: float, limit: float) -> None:
    drawn = MemoryCurve((fixed, item), 1, 3, 0.0)
    size = drawn.largest(limit)
    assert size == 0 or drawn.at(size) <= limit
    assert drawn.at(size + 1) > limit
    assert MemoryCurve((0.0, 1e-12), 1, 3, 0.0).largest(1.0) == SIZE_MAX
