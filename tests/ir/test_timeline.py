"""Where a step's time goes, from what ran when."""

from __future__ import annotations

import dataclasses

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.ir.timeline import Category, Profile, Span, by_rules, in_flight, profile


def test_an_operation_is_what_it_is_called_and_not_its_parts() -> None:
    spans = [
        Span("a", "attention", 0.0, 4.0, Category.ATTENTION),
        Span("a", "product", 1.0, 3.0, Category.PRODUCTS),
        Span("a", "wrapper", 0.0, 9.0, ""),
        Span("a", "product", 5.0, 6.0, Category.PRODUCTS),
    ]
    found = profile("test", spans, steps=1, seconds=9.0, plain_seconds=8.0)
    assert found.categories == {Category.PRODUCTS: 1.0, Category.ATTENTION: 4.0, Category.HOST: 4.0}
    assert found.largest == ((Category.ATTENTION, "attention", 4.0), (Category.PRODUCTS, "product", 1.0))
    assert found.attributed == 1.0


def test_what_runs_at_once_shares_the_time() -> None:
    spans = [Span("a", "x", 0.0, 4.0, Category.PRODUCTS), Span("b", "y", 2.0, 6.0, Category.COPIES)]
    found = profile("test", spans, steps=2, seconds=6.0, plain_seconds=3.0)
    assert found.categories == {Category.PRODUCTS: 1.5, Category.COPIES: 1.5}
    assert found.seconds == 3.0


def test_what_is_in_flight_has_the_time_in_which_nothing_is_seen_to_run() -> None:
    spans = [Span("a", "x", 1.0, 4.0, Category.COPIES), Span("b", "y", 0.0, 6.0, Category.PRODUCTS, in_flight=True)]
    found = profile("test", spans, steps=1, seconds=7.0, plain_seconds=7.0)
    assert found.categories == {Category.PRODUCTS: 3.0, Category.COPIES: 3.0, Category.HOST: 1.0}


def test_an_operation_is_in_flight_until_its_end_is_told() -> None:
    once, again = (Span("a", "copy", at, at + 1.0, Category.COPIES) for at in (0.0, 10.0))
    within = Span("a", "dot", 2.0, 5.0, Category.PRODUCTS)
    ends = [(4.0, "copy"), (5.0, "dot"), (12.0, "copy"), (13.0, "copy"), (14.0, "never begun")]
    found = list(in_flight([again, within, once], ends))
    assert [(span.name, span.begin, span.end) for span in found] == [("copy", 1.0, 4.0), ("copy", 11.0, 12.0)]
    assert all(span.in_flight and span.category == Category.COPIES for span in found)


def test_a_step_in_which_nothing_is_known_to_have_run_is_the_host_s() -> None:
    found = profile("test", [], steps=1, seconds=2.0, plain_seconds=1.0)
    assert found.categories == {Category.HOST: 2.0}


def test_a_profile_is_read_as_it_was_written() -> None:
    found = profile("test", [Span("a", "x", 0.0, 1.0, Category.PRODUCTS)], steps=1, seconds=2.0, plain_seconds=1.0)
    assert msgspec.convert(dataclasses.asdict(found), Profile) == found


@pytest.mark.parametrize(
    ("name", "expected"),
    [("aten::mm", Category.PRODUCTS), ("aten::mm_softmax", Category.ATTENTION), ("other", Category.ELEMENTWISE)],
)
def test_the_first_rule_that_fits_is_taken(name: str, expected: str) -> None:
    rules = ("softmax", Category.ATTENTION), ("mm", Category.PRODUCTS)
    assert by_rules(name, rules, Category.ELEMENTWISE) == expected


times = st.integers(0, 40).map(lambda n: n / 4)


def span(thread: str, begin: float, length: float, category: str) -> Span:
    """An operation, by how long it takes."""
    return Span(thread, "x", begin, begin + length, category)


some = st.sampled_from(list(Category)[:4])
spans = st.lists(st.builds(span, st.sampled_from("abc"), times, times, some), max_size=12)


@given(spans)
def test_the_sum_is_the_step(found: list[Span]) -> None:
    told = profile("test", found, steps=1, seconds=25.0, plain_seconds=1.0)
    assert sum(told.categories.values()) == pytest.approx(25.0)
    covered = {at / 8 for at in range(8 * 25) for span in found if span.begin <= at / 8 < span.end}
    assert told.categories.get(Category.HOST, 0.0) == pytest.approx(25.0 - len(covered) / 8)
