"""Where a step's time goes, from what ran when."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.ir.timeline import (
    ATTENTION,
    CATEGORIES,
    COPIES,
    ELEMENTWISE,
    HOST,
    PRODUCTS,
    Profile,
    Span,
    by_rules,
    profile,
)


def test_an_operation_is_what_it_is_called_and_not_its_parts() -> None:
    spans = [Span("a", "attention", 0.0, 4.0, ATTENTION), Span("a", "product", 1.0, 3.0, PRODUCTS),
             Span("a", "wrapper", 0.0, 9.0, ""), Span("a", "product", 5.0, 6.0, PRODUCTS)]  # fmt: skip
    found = profile("test", spans, steps=1, seconds=9.0, plain_seconds=8.0)
    assert found.categories == {PRODUCTS: 1.0, ATTENTION: 4.0, HOST: 4.0}
    assert found.largest == ((ATTENTION, "attention", 4.0), (PRODUCTS, "product", 1.0))
    assert found.attributed == 1.0


def test_what_runs_at_once_shares_the_time() -> None:
    spans = [Span("a", "x", 0.0, 4.0, PRODUCTS), Span("b", "y", 2.0, 6.0, COPIES)]
    found = profile("test", spans, steps=2, seconds=6.0, plain_seconds=3.0)
    assert found.categories == {PRODUCTS: 1.5, COPIES: 1.5}
    assert found.seconds == 3.0


def test_a_step_in_which_nothing_is_known_to_have_run_is_the_host_s() -> None:
    found = profile("test", [], steps=1, seconds=2.0, plain_seconds=1.0)
    assert found.categories == {HOST: 2.0}


def test_a_profile_is_read_as_it_was_written() -> None:
    found = profile("test", [Span("a", "x", 0.0, 1.0, PRODUCTS)], steps=1, seconds=2.0, plain_seconds=1.0)
    assert Profile.from_json(found.to_json()) == found


@pytest.mark.parametrize(
    ("name", "expected"), [("aten::mm", PRODUCTS), ("aten::mm_softmax", ATTENTION), ("other", ELEMENTWISE)]
)
def test_the_first_rule_that_fits_is_taken(name: str, expected: str) -> None:
    assert by_rules(name, (("softmax", ATTENTION), ("mm", PRODUCTS)), ELEMENTWISE) == expected


times = st.integers(0, 40).map(lambda n: n / 4)


def span(thread: str, begin: float, length: float, category: str) -> Span:
    """An operation, by how long it takes."""
    return Span(thread, "x", begin, begin + length, category)


spans = st.lists(st.builds(span, st.sampled_from("abc"), times, times, st.sampled_from(CATEGORIES[:4])), max_size=12)


@given(spans)
def test_the_sum_is_the_step(found: list[Span]) -> None:
    told = profile("test", found, steps=1, seconds=25.0, plain_seconds=1.0)
    assert sum(told.categories.values()) == pytest.approx(25.0)
    covered = {at / 8 for at in range(8 * 25) for span in found if span.begin <= at / 8 < span.end}
    assert told.categories.get(HOST, 0.0) == pytest.approx(25.0 - len(covered) / 8)
