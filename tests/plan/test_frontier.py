"""The search for the largest size that fits, on peaks whose shape is known."""

from __future__ import annotations

import math
from itertools import accumulate

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.plan.frontier import first_size, next_size
from suite.plan.search.bracket import most_allowed
from suite.plan.search.curves import SIZE_MAX
from suite.workloads.catalog import find

GIB = 2.0**30


def search(
    peak: dict[int, float] | object, limit: float, axis: str, most: int, known: bool = True, tolerance: float = 0.0
) -> list[int]:
    """The sizes that are tried in turn where `peak(size)` is what each takes."""
    assert callable(peak)
    seen: dict[int, float | None] = {}
    while (size := next_size(seen, limit if known else None, axis, most, tolerance)) is not None:
        assert 1 <= size <= most and size not in seen
        seen[size] = peak(size) if peak(size) <= limit else None
    return list(seen)


def largest(peak: object, limit: float, most: int) -> int:
    """By trying all."""
    assert callable(peak)
    return max((size for size in range(1, most + 1) if peak(size) <= limit), default=0)


@given(fixed=st.floats(0.1, 5.0), item=st.floats(0.001, 2.0), limit=st.floats(1.0, 8.0))
def test_a_line_is_found_in_a_few_probes(fixed: float, item: float, limit: float) -> None:
    def peak(size: int) -> float:
        return (fixed + item * size) * GIB

    tried = search(peak, limit * GIB, "batch", 100_000)
    found = largest(peak, limit * GIB, 10_000)
    assert found in tried or found == 0
    assert found + 1 in tried, "not called found unless the next one has failed"
    assert len(tried) <= 4 + math.log(max(found, 1), 8) + 3


@given(
    steps=st.lists(st.floats(0.0, 3.0), min_size=1, max_size=400),
    start=st.floats(0.1, 3.0),
    limit=st.floats(0.5, 600.0),
    axis=st.sampled_from(["batch", "seq"]),
    known=st.booleans(),
    tolerance=st.just(0.0) | st.floats(0.0, 0.5),
)
def test_whatever_grows_a_search_ends_within_its_tolerance(
    steps: list[float], start: float, limit: float, axis: str, known: bool, tolerance: float
) -> None:
    """What fits and what doesn't were both tried, and lie no farther apart: on a staircase, which no curve fits, under
    a limit that may be unknown (a device's)."""
    heights = [*accumulate(steps, initial=start)]

    def peak(size: int) -> float:
        return heights[size - 1] * GIB

    most = len(heights)
    tried = search(peak, limit * GIB, axis, most, known, tolerance)
    fits = max((size for size in tried if peak(size) <= limit * GIB), default=0)
    fails = min((size for size in tried if peak(size) > limit * GIB), default=most + 1)
    assert fits <= largest(peak, limit * GIB, most) < fails
    assert fits == most or fails - fits <= max(1, tolerance * fits)
    assert fails <= most or fits == most, "that all fit is known by trying the last"
    assert len(tried) <= 2 * math.log2(most + 1) + 6


def test_a_tolerance_spares_the_probes_that_pin_the_last_size() -> None:
    """Matrices whose peak has steps of an allocator's size, as a real process's has."""

    def peak(size: int) -> float:
        return math.ceil((60 + 12 * size**2 / 2**20) / 16) * 16 * 2**20

    exact = search(peak, 256 * 2**20, "n", 65536)
    spared = search(peak, 256 * 2**20, "n", 65536, tolerance=0.02)
    assert largest(peak, 256 * 2**20, 65536) in exact
    assert len(spared) < len(exact)
    assert len(spared) <= 6


def test_a_peak_that_stays_under_the_limit_until_nothing_fits_is_found_soon() -> None:
    """A compiler that keeps its plan under the limit, as libtpu was seen to: from batch 640 on every program needs as
    much, until none fits. The curve then says that sizes which fit don't."""
    needs = {664: 29.35, 701: 29.31, 904: 29.39}

    def peak(size: int) -> float:
        if size > 1100:
            return 40 * GIB
        return (needs.get(size) or min(1.5 + 0.045 * size, 29.33)) * GIB

    for limit in (29.2, 29.3, 29.39, 31.2):  # above, beside and under what is seen
        seen: dict[int, float | None] = {}
        while (size := next_size(seen, limit * GIB, "batch", 100_000, 0.05)) is not None:
            seen[size] = peak(size) if size <= 1100 else None
        assert max(size for size, value in seen.items() if value) * 1.05 >= 1101 - 1
        assert len(seen) <= 16, sorted(seen)


def test_a_line_that_small_sizes_don_t_show_is_found_soon() -> None:
    """Placing has the peak up to batch 8, as eager PyTorch was seen to."""
    tried = search(lambda size: max(2.4 + 0.01 * size, 2.13 + 0.0597 * size) * GIB, 6 * GIB, "batch", 100_000)
    assert {64, 65} <= set(tried) and len(tried) <= 9


def test_a_square_is_found_along_a_sequence() -> None:
    tried = search(lambda size: (1.0 + 1e-3 * size + 4e-6 * size**2) * GIB, 6 * GIB, "seq", 4096)
    assert tried[0] == 64
    assert 1000 in tried and 1001 in tried and len(tried) <= 8


def test_the_largest_that_is_allowed_ends_the_search() -> None:
    assert search(lambda size: GIB, 2 * GIB, "batch", 5)[-1] == 5
    gpt2 = find()["gpt2"]
    assert most_allowed(gpt2, gpt2.dims("full", {}), "seq") == 1024
    assert most_allowed(gpt2, gpt2.dims("full", {}), "batch") == SIZE_MAX


@pytest.mark.parametrize(
    ("axis", "most", "first"), [("batch", SIZE_MAX, 1), ("seq", 1024, 16), ("seq", 8, 1), ("rows", SIZE_MAX, 96)]
)
def test_a_search_begins_small(axis: str, most: int, first: int) -> None:
    assert first_size(axis, most, own=96) == first
