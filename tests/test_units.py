"""Numbers as people read them, and positions on a log axis."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite import units
from suite.answers.figures.axes import LogAxis
from suite.units import Unit


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        (24800.4, "24,800"),
        (22.14, "22.1"),
        (0.02214, "0.0221"),
        (9.996, "10.0"),
        (999.6, "1,000"),
        (1.0, "1.00"),
        (0, "0"),
        (-102.4, "\N{MINUS SIGN}102"),
        (2.5e-7, "2.50e-07"),
        (None, "–"),
        (math.nan, "–"),
        (math.inf, "–"),
    ],
)
def test_three_significant_digits(value: float | None, shown: str) -> None:
    assert units.digits(value) == shown


@given(st.floats(1e-4, 1e14))
def test_digits_are_within_half_a_unit_of_the_third(value: float) -> None:
    assert float(units.digits(value).replace(",", "")) == pytest.approx(value, rel=5.1e-3)


@pytest.mark.parametrize(
    ("values", "name"),
    [
        ([0.0221, 0.13], "ms"),
        ([1.2, 24.0], "s"),
        ([4.2e-6], "µs"),
        ([3e-10], "ns"),
        ([], "s"),
        ([None, 0.5], "ms"),
        ([0.9999], "s"),
        ([0.0, 0.002], "ms"),
    ],
)
def test_one_unit_for_a_column(values: list[float | None], name: str) -> None:
    assert units.time_unit(values).name == name


def test_what_doesnt_suit_its_column_s_unit_has_one_of_its_own() -> None:
    column = units.time_unit([0.036, 0.612, 17.4])
    assert column.name == "ms"
    shown = [column.show(seconds) for seconds in (0.036, 9.9944, 9.996, 17.4, 1e-5, 9e-6, 0.0, None)]
    assert shown == ["36.0", "9,990", "10,000", "17,400", "0.0100", "9.00 µs", "0", "–"]
    assert (column(174), column(0.612), column(None)) == ("174 s", "612 ms", "–")
    assert units.interval(161, 183, column) == "[161, 183] s" and units.interval(0.6, 0.7, column) == "[600, 700]"
    assert units.byte_unit([2.0**20])(2.0**35) == "32.0 GiB"
    assert units.rate_unit([20.0, 30.0, 4e6], "rows").show(4e6) == "4.00 M rows/s"
    assert Unit("ms", 1e-3)(17.4) == "17,400 ms", "a unit that stands for itself"


def test_units_scale_what_they_name() -> None:
    assert units.byte_unit([3 * 2.0**30])(3 * 2.0**30) == "3.00 GiB"
    assert units.rate_unit([136_000.0])(136_000.0) == "136 k items/s"
    assert units.rate_unit([42.0])(42.0) == "42.0 items/s"
    assert units.seconds(0.00042) == "420 µs" and units.seconds(None) == "–"
    assert units.ratio(1.4212) == "1.42×" and units.ratio(None) == "–"
    assert units.interval(1.35, 1.5) == "[1.35, 1.50]" and units.interval(None, 1.5) == ""
    assert units.rate_unit([2e4], "tokens")(2e4) == "20.0 k tokens/s"
    assert units.estimate(1.4212, 1.35, 1.5) == "1.42× [1.35, 1.50]" and units.estimate(2, None, None) == "2.00×"
    assert units.magnitude(2.24e-7) == "2.2e-07" and units.magnitude(None) == units.magnitude(math.nan) == "–"
    assert units.quantity(None) == "–"
    assert units.percent(0.05) == "5 %" and units.percent(0.0123) == "1.23 %"
    assert units.percent(2e-6) == "< 0.1 %" and units.percent(0) == "0 %" and units.percent(None) == "–"


@given(st.lists(st.floats(1e-9, 1e6), min_size=1, max_size=20))
def test_an_axis_holds_its_values_in_order(values: list[float]) -> None:
    axis = LogAxis.over(values)
    places = [axis.percent(v) for v in sorted(values)]
    assert places == sorted(places) and places[0] > 0 and places[-1] < 100


@given(st.floats(1e-8, 1e3), st.floats(1.0, 1e7))
def test_an_axis_has_two_to_seven_labelled_ticks_in_order(low: float, span: float) -> None:
    ticks = LogAxis.over([low, low * span]).ticks(Unit("ms", 1e-3))
    assert 2 <= len(ticks) <= 7
    assert [t.x for t in ticks] == sorted(t.x for t in ticks)
    assert all(0 <= t.x <= 100 and t.label for t in ticks)


@pytest.mark.parametrize(
    ("low", "high", "shown"),
    [
        (0.848, 0.9996, "[0.848, 0.9996]"),
        (0.848, 0.99996, "[0.848, 0.99996]"),
        (1.0004, 1.3, "[1.0004, 1.30]"),
        (0.9996, 1.3, "[0.9996, 1.30]"),
        (0.848, 1.0, "[0.848, 1.00)"),
        (1.0, 1.3, "(1.00, 1.30]"),
        (1.0, 1.0, "[1.00, 1.00]"),
        (1 - 1e-13, 1.3, "[1.00, 1.30]"),
        (0.98, 1.02, "[0.980, 1.02]"),
    ],
)
def test_an_interval_shows_on_which_side_of_1_it_ends(low: float, high: float, shown: str) -> None:
    """A step-down test ends an interval at 1 exactly and excludes it: the bracket is open there."""
    assert units.interval(low, high) == shown


def test_an_interval_that_says_next_to_nothing_has_no_figures_that_look_exact() -> None:
    assert units.interval(2.7e-44, 3.3e44) == "[< 0.01, > 100]"
    assert units.interval(0.5, 6000.0) == "[0.500, > 100]"
    assert units.interval(1.0, 20_000.0) == "(1.00, > 100]"
    assert units.interval(300.0, 310.0) == "[300, 310]"


def test_a_time_s_interval_has_three_digits_and_closed_ends() -> None:
    assert units.interval(0.0009996, 0.001, units.Unit("ms", 1e-3)) == "[1.00, 1.00]"


def test_a_ratio_beside_1_whose_interval_excludes_1_shows_it_too() -> None:
    assert units.estimate(1.0008, 1.0004, 1.0012) == "1.0008× [1.0004, 1.001]"
    assert units.estimate(1.0008, 0.99, 1.01) == "1.00× [0.990, 1.01]"


def test_a_ratio_has_the_same_digits_with_and_without_its_interval_beside_it() -> None:
    for value, low, high in ((0.9996, 0.9994, 0.9998), (1.0004, 1.0002, 1.0006), (1.0004, 0.99, 1.01), (2.5, 2, 3)):
        shown = units.ratio(value, low, high)
        assert units.estimate(value, low, high) == f"{shown} {units.interval(low, high)}"
    assert units.ratio(0.9996, 0.9994, 0.9998) == "0.9996\N{MULTIPLICATION SIGN}"
    assert units.ratio(1.0004, 0.99, 1.01) == units.ratio(1.0004) == "1.00\N{MULTIPLICATION SIGN}"


def test_steps_that_were_computed_have_three_digits() -> None:
    assert [units.steps(number) for number in (1, 40, 999, 1_000, 10_401, 77_561)] == [
        "1",
        "40",
        "999",
        "1,000",
        "10,400",
        "77,600",
    ]
