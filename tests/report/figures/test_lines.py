"""A chart of lines: places, names beside them that don't collide, looks that stay."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.answers.figures.curves import HEIGHT, LABEL_HEIGHT, apart, looks_of
from suite.answers.figures.lines import ChartPoint, line_chart
from suite.stacks.catalog import STACKS


def value(place: int, seconds: float, kind: str = "same") -> ChartPoint:
    return ChartPoint(place, seconds, seconds / 1.1, seconds * 1.1, f"{seconds} s", kind)


def test_values_lie_where_their_sets_and_times_are() -> None:
    lines = {"jax_jit": [value(0, 0.01), value(2, 0.04)], "numpy": [value(1, 0.02)]}
    chart = line_chart("id", "title", ["2026-03-01", "2026-03-01", "2026-03-02"], lines, {2: "jax 1.0 → jax 1.1"})
    jax, numpy = chart.curves
    first, last, between = *jax.points, numpy.points[0]
    assert (first.x, last.x, between.x) == (16.67, 83.33, 50.0)
    assert first.y - between.y == pytest.approx(between.y - last.y), "a log axis"
    assert all(point.high is not None and point.high < point.y < (point.low or 0) for point in (first, last, between))
    assert jax.path == f"16.67,{first.y} 83.33,{last.y}" and (jax.value, chart.up_label) == ("40.0 ms", "ms, log")
    assert [(event.x, event.label) for event in chart.events] == [(66.67, "jax 1.0 → jax 1.1")]
    assert [tick.label for tick in chart.across] == ["2026-03-01", "2026-03-02"], "a date is written once"


def test_many_dates_are_thinned() -> None:
    dates = [f"2026-{month:02d}-{day:02d}" for month in range(1, 6) for day in range(1, 29)]
    chart = line_chart("id", "t", dates, {"numpy": [value(place, 0.01) for place in range(len(dates))]}, {})
    assert len(chart.across) == 8 and chart.across[0].label == dates[0]


@given(st.lists(st.floats(0, HEIGHT), min_size=1, max_size=14))
def test_names_never_lie_on_each_other(wished: list[float]) -> None:
    placed = sorted(apart({str(number): y for number, y in enumerate(wished)}).values())
    assert all(after - before >= LABEL_HEIGHT - 0.2 for before, after in pairwise(placed))
    assert placed[0] >= -LABEL_HEIGHT and placed[-1] <= HEIGHT + LABEL_HEIGHT


def test_a_stack_has_one_look_and_no_two_lines_have_the_same() -> None:
    of_all = looks_of([*STACKS])
    assert len({*of_all.values()}) == min(len(STACKS), 10) and looks_of(["torch_eager"])["torch_eager"] == 3
    mixed = looks_of(["jax_jit", "jax_jit@0.10", "<script>"])
    assert mixed["jax_jit"] == of_all["jax_jit"] and len({*mixed.values()}) == 3
