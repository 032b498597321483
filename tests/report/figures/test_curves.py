"""Charts of curves: their places and looks."""

from __future__ import annotations

import itertools

from suite.answers.figures.axes import LogAxis
from suite.answers.figures.curves import LABEL_HEIGHT, curves, looks_of


def test_a_curve_is_drawn_on_both_axes() -> None:
    axis = LogAxis(1.0, 100.0)
    drawn = curves({"jax_jit": ([(1.0, 100.0), (10.0, 10.0), (100.0, 1.0)], "words")}, axis, axis)
    (curve,) = drawn
    assert (curve.path, curve.label_y, curve.words) == ("0,0 50,50 100,100", 272.5, "words")
    assert curve.look == looks_of(["jax_jit"])["jax_jit"]


def test_names_of_curves_that_end_together_stand_apart() -> None:
    axis = LogAxis(1.0, 100.0)
    flat = {name: ([(1.0, 10.0), (100.0, 10.0)], name) for name in ("numpy", "jax_jit", "tf_xla")}
    places = sorted(curve.label_y for curve in curves(flat, axis, axis))
    assert all(after - before >= LABEL_HEIGHT for before, after in itertools.pairwise(places))
