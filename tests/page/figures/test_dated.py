"""Times over sets: their places, their dates, and where versions changed."""

from __future__ import annotations

import polars as pl
import pytest

from suite.answers.figures.dated import over_sets


def times(**lines: list[tuple[int, float]]) -> pl.DataFrame:
    return pl.DataFrame(
        [
            {
                "stack": stack,
                "place": place,
                "seconds": seconds,
                "seconds_low": seconds / 1.1,
                "seconds_high": seconds * 1.1,
                "words": f"{seconds} s",
                "change": "slower" if place == 2 else "",
            }
            for stack, points in lines.items()
            for place, seconds in points
        ]
    )


def test_values_lie_where_their_sets_and_times_are() -> None:
    lines = times(jax_jit=[(0, 0.01), (2, 0.04)], numpy=[(1, 0.02)])
    figure = over_sets("id", "title", ["2026-03-01", "2026-03-01", "2026-03-02"], lines, {2: "jax 1.0 → jax 1.1"})
    marks = [mark for name in ("jax_jit", "numpy") for mark in figure.drawn[name] if mark["kind"].startswith("dot")]
    first, last, between = (mark for mark in marks if mark["shape"] == "mark")
    assert (first["x"], last["x"], between["x"]) == (16.67, 83.33, 50.0)
    assert first["y"] - between["y"] == pytest.approx(between["y"] - last["y"], abs=0.02), "a log axis"
    reaches = [mark for mark in marks if mark["shape"] == "reach"]
    assert len(reaches) == 3 and all(mark["high"] < mark["y"] < mark["low"] for mark in reaches)
    (changed,) = (mark for mark in figure.drawn["jax_jit"] if mark["kind"] == "changed slower")
    assert (changed["x"], changed["y"]) == (last["x"], last["y"])
    assert figure.values == ["40.0 ms", "20.0 ms"] and figure.up_label == "ms, log"
    assert [(event["x"], event["title"]) for event in figure.drawn[None]] == [(66.67, "jax 1.0 → jax 1.1")]
    assert [tick.label for tick in figure.ticks] == ["2026-03-01", "2026-03-02"], "a date is written once"


def test_many_dates_are_thinned() -> None:
    dates = [f"2026-{month:02d}-{day:02d}" for month in range(1, 6) for day in range(1, 29)]
    figure = over_sets("id", "t", dates, times(numpy=[(place, 0.01) for place in range(len(dates))]), {})
    assert len(figure.ticks) == 8 and figure.ticks[0].label == dates[0]
