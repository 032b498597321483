"""Expressions of WEIGHTS: what they give, and that no other text is taken."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.errors import UserError
from suite.workloads.questions.ports.expressions import gradients_of, leaves_in, shape_of, value_of

A, B = np.arange(6.0).reshape(2, 3), 10 + np.arange(6.0).reshape(2, 3)
VALUES = {"fc.weight": A, "layers.0.if.kernel": B, "fc.weight_v": A + 1, "0.weight": A, "0": np.arange(4.0)}
SHAPES = {name: value.shape for name, value in VALUES.items()}


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("fc.weight", A),
        ("fc.weight.T", A.T),
        ("fc.weight_v.T", (A + 1).T),
        ("layers.0.if.kernel[0:1].T.reshape(1, 3)", B[0:1].T.reshape(1, 3)),
        ("fc.weight[:, ::-1].transpose(1, 0)", A[:, ::-1].T),
        ("fc.weight + 2 * layers.0.if.kernel", A + 2 * B),
        ("(fc.weight + layers.0.if.kernel).T", (A + B).T),
        ("0.5 * fc.weight", A / 2),
        ("concatenate(fc.weight, 0.weight)", np.concatenate((A, A))),
        ("concatenate(fc.weight.T, 0.weight.T, axis=1)", np.concatenate((A.T, A.T), 1)),
        ("'0'[-2:]", np.arange(2.0, 4.0)),
        ('"fc.weight"[0]', A[0]),
    ],
)
def test_an_expression_has_the_value_that_numpy_gives(expression: str, expected: np.ndarray) -> None:
    np.testing.assert_array_equal(value_of(expression, VALUES), expected)
    assert shape_of(expression, SHAPES) == expected.shape


@pytest.mark.parametrize(
    "expression",
    [
        "",
        "(fc.weight",
        "fc.weight.sum()",
        "fc.weight.tofile('x')",
        "fc.weight @ fc.weight",
        "fc.weight - fc.weight",
        "fc.weight ** 2",
        "fc.weight * fc.weight",
        "1 + fc.weight",
        "fc.weight[fc.weight]",
        "fc.weight[0.5]",
        "fc.weight[9]",
        "fc.weight.reshape(7)",
        "fc.weight.transpose(0)",
        "fc.weight + fc.weight.T",
        "fc.weight + fc.weight[0]",
        "concatenate()",
        "concatenate(*fc.weight)",
        "concatenate(fc.weight, out=fc.weight)",
        "concatenate(fc.weight, '0')",
        "fc.weight.__class__",
        "fc.weight.T.base",
        "__import__('os').getcwd()",
        "lambda: 0",
        "[x for x in '0']",
        "f'{fc.weight}'",
        f"{10**400} * fc.weight",
        "+" * 5000 + "fc.weight",
        "fc.weight\0",
    ],
)
def test_what_is_no_expression_is_refused(expression: str) -> None:
    with pytest.raises(UserError, match="WEIGHTS"):
        value_of(expression, VALUES)


@given(st.text(alphabet="fc.weight[]():,+*'\"0T -=\\\n{}") | st.text())
def test_any_text_is_an_expression_or_refused(text: str) -> None:
    try:
        value = value_of(text, VALUES)
    except UserError:
        return
    assert shape_of(text, SHAPES) == value.shape
    assert leaves_in(text, SHAPES)


@pytest.mark.parametrize(
    ("expression", "leaf"),
    [
        ("layers.0.fi.kernel.T", "layers.0.fi.kernel"),
        ("net.fc.weight", "net.fc.weight"),
        ("'fc.weights'", "fc.weights"),
    ],
)
def test_an_unknown_leaf_is_named_with_the_nearest(expression: str, leaf: str) -> None:
    with pytest.raises(UserError) as refused:
        value_of(expression, VALUES)
    assert f"no leaf {leaf}. Nearest: " in str(refused.value)
    assert {"layers.0.fi.kernel": "layers.0.if.kernel"}.get(leaf, "fc.weight") in str(refused.value)


@given(st.integers(0, 2**32))
def test_gradients_are_those_of_the_chain_rule(seed: int) -> None:
    """For a linear map M of the first's leaves, (M x) · g is x · (M^T g), whatever x and g are."""
    weights = {
        "sum": "fc.weight + layers.0.if.kernel",
        "again": "fc.weight.T",
        "part": "3 * concatenate(fc.weight[0:1], layers.0.if.kernel[:, ::-1]).transpose(1, 0)",
        "both": "fc.weight + fc.weight[::-1]",
        "zero": "0 * fc.weight",
    }
    draw = np.random.default_rng(seed).normal
    values = {name: draw(size=shape) for name, shape in SHAPES.items()}
    gradients = {name: draw(size=shape_of(expression, SHAPES)) for name, expression in weights.items()}
    found = gradients_of(weights, gradients, SHAPES)
    of_port = sum(np.vdot(value_of(weights[name], values), gradients[name]) for name in weights)
    of_first = sum(np.vdot(values[name], found[name]) for name in SHAPES)
    assert of_first == pytest.approx(of_port, abs=1e-9)
    assert not found["0.weight"].any()
