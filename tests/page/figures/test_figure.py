"""Figures: the places of their marks and names, and the looks of their lines."""

from __future__ import annotations

import re
from itertools import pairwise

import polars as pl
from hypothesis import given
from hypothesis import strategies as st

from suite.answers.figures.axes import LogAxis
from suite.answers.figures.figure import HEIGHT, LABEL_HEIGHT, LOOKS, SHAPES, Figure, apart, looks_of
from suite.page.formats.render import TEMPLATES
from suite.stacks.catalog import STACKS

AXIS = LogAxis(1.0, 100.0)


def of_lines(lines: dict[str, list[tuple[float, float]]]) -> Figure:
    marks = [{"of": name, "shape": "joined", "x": x, "y": y} for name, points in lines.items() for x, y in points]
    return Figure("id", "title", [*lines], [pl.DataFrame(marks)], AXIS, AXIS.ticks(), up=AXIS)


def test_a_line_is_drawn_on_both_axes() -> None:
    figure = of_lines({"jax_jit": [(1.0, 100.0), (10.0, 10.0), (100.0, 1.0)]})
    assert [(mark["x"], mark["y"]) for mark in figure.drawn["jax_jit"]] == [(0, 0), (50, HEIGHT / 2), (100, HEIGHT)]
    assert figure.beside == {"jax_jit": 272.5} and figure.looks == looks_of(["jax_jit"])


def test_names_of_lines_that_end_together_stand_apart() -> None:
    figure = of_lines({name: [(1.0, 10.0), (100.0, 10.0)] for name in ("numpy", "jax_jit", "tf_xla")})
    assert all(after - before >= LABEL_HEIGHT for before, after in pairwise(sorted(figure.beside.values())))


def test_a_mark_without_an_axis_up_lies_in_its_row() -> None:
    marks = pl.DataFrame({"of": ["b"], "shape": ["span"], "low": [1.0], "high": [100.0], "title": ["words"]})
    figure = Figure("id", "title", ["a", "b"], [marks], AXIS, AXIS.ticks())
    (mark,) = figure.drawn["b"]
    assert (mark["y"], mark["low"], mark["high"], figure.height) == (39, 0, 100, 52)
    assert figure.drawn["a"] == [] and figure.description == "words"


@given(st.lists(st.floats(0, HEIGHT), min_size=1, max_size=14))
def test_names_never_lie_on_each_other(wished: list[float]) -> None:
    placed = sorted(apart({str(number): y for number, y in enumerate(wished)}).values())
    assert all(after - before >= LABEL_HEIGHT - 0.2 for before, after in pairwise(placed))
    assert placed[0] >= -LABEL_HEIGHT and placed[-1] <= HEIGHT + LABEL_HEIGHT


def test_a_stack_has_one_look_and_no_two_lines_have_the_same() -> None:
    of_all = looks_of([*STACKS])
    assert len({*of_all.values()}) == min(len(STACKS), LOOKS) and looks_of(["torch_eager"])["torch_eager"] == 3
    mixed = looks_of(["jax_jit", "jax_jit@0.10", "<script>"])
    assert mixed["jax_jit"] == of_all["jax_jit"] and len({*mixed.values()}) == 3


def test_each_look_has_another_shape_or_dash_and_a_colour() -> None:
    style = (TEMPLATES / "partials" / "lines.css").read_text(encoding="utf-8")
    rules = [(selector, rule) for selector, rule in re.findall(r"([^{}]+)\{([^}]*)\}", style)]

    def of(look: int, part: str, what: str) -> list[str]:
        return [rule for names, rule in rules if re.search(rf"\.l{look}{part}(,|$)", names.strip()) and what in rule]

    drawn = [(look % SHAPES, *of(look, " .joined", "dasharray")) for look in range(LOOKS)]
    assert len({*drawn}) == LOOKS > 17
    assert len({(look % SHAPES, *of(look, "", "color:")) for look in range(LOOKS)}) == LOOKS
