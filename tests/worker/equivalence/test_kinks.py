"""Where a gradient jumps: at zeros and ties, and nowhere else, by NumPy's own functions."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from suite.stacks.numpy import numpy_adapter
from suite.worker.data import Data
from suite.worker.equivalence import kinks
from suite.workloads.catalog import load
from tests.worker.processes import case_of

FILE = """import numpy as np
from suite.ask import constant, normal

def inputs(n=500):
    return {{"x": normal(n), "zero": constant(n), "y": normal(n)}}

def numpy_f(x, zero, y):
    return {value}

def numpy_f_gradient(x, zero, y):
    slope = 3 * ({value}) * np.abs({value}) / x.size
    return np.mean(np.abs({value}) ** 3), {gradient}
"""
RELU = ("np.maximum(zero, 0) + y", "dict(x=0 * x, zero=slope * (zero > 0), y=slope)")
HALVES = ("np.maximum(zero, 0) + y", "dict(x=0 * x, zero=slope * ((zero > 0) + 0.5 * (zero == 0)), y=slope)")
SLOPE = "slope * y / np.cosh(x + zero) ** 2"
SMOOTH = ("np.tanh(x + zero) * y", f"dict(x={SLOPE}, zero={SLOPE}, y=slope * np.tanh(x + zero))")


def found(folder: Path, value: str, gradient: str) -> dict[str, list[float]]:
    file = folder / "question.py"
    file.write_text(FILE.format(value=value, gradient=gradient), encoding="utf-8")
    case = case_of(
        stack="numpy", workload="question", dims={"n": 500}, size="asked", pass_="gradient", implementation="f"
    )
    adapter, data = numpy_adapter.Adapter(case, load(file)), Data(case, load(file), 3)
    adapter.device()
    adapter.build()
    gradients = adapter.read("gradients", *data.place(adapter, moments=False))
    return kinks.find(adapter, data, {name: np.array(gradients[name]) for name in data.parameters})


def test_a_parameter_without_axes_stays_an_array() -> None:
    shifted = kinks.moved("scale", np.array(2.0, np.float32), 2.0**-12)
    assert type(shifted) is np.ndarray and shifted.dtype == np.float32 and 0 < abs(shifted - 2) < 2e-3


@pytest.mark.parametrize("convention", [RELU, HALVES])
def test_a_gradient_at_zeros_is_at_kinks_whatever_the_convention(convention: tuple[str, str], tmp_path: Path) -> None:
    (name, figures), *others = found(tmp_path, *convention).items()
    count, size, _, value, norm = figures[:5]
    assert name == "zero" and not others and size == 500 and value == 0
    assert count > 490, "but for elements whose gradient is nearly zero on both sides"
    assert norm < 1e-5


def test_a_smooth_function_has_none(tmp_path: Path) -> None:
    assert found(tmp_path, *SMOOTH) == {}
