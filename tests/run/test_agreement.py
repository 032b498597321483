"""Where no golden file exists, stacks are held to each other: which difference counts, and how much is allowed."""

from __future__ import annotations

import math
from functools import partial
from types import SimpleNamespace

import pytest

from suite import protocol
from suite.reference.expected import digest_tolerance
from suite.run.agreement import disagreement

SMOOTH = SimpleNamespace()
JUMPING = SimpleNamespace(GRADIENT_TOLERANCE={"f32": 1e-2})
FIRST = {"output": [2.0, 0.5], "gradient/w": [4.0, -1.0], "gradient/tiny": [1e-6, 1e-6]}


def allowed(spec: object) -> partial[float]:
    return partial(digest_tolerance, spec, "f32")


def test_a_tolerance_of_gradients_is_for_gradients_alone() -> None:
    assert digest_tolerance(JUMPING, "f32", "gradient/w") == 1e-2
    assert digest_tolerance(JUMPING, "f32", "output") == protocol.DIGEST_TOLERANCE["f32"]
    assert digest_tolerance(JUMPING, "bf16", "gradient/w") == protocol.DIGEST_TOLERANCE["bf16"]
    assert digest_tolerance(SMOOTH, "f32", "gradient/w") == protocol.DIGEST_TOLERANCE["f32"]


def test_equal_stacks_dont_differ() -> None:
    assert disagreement(FIRST, FIRST, allowed(SMOOTH)) == ("", 0.0)


def test_a_difference_is_told_as_a_part_of_the_norm() -> None:
    name, error = disagreement(FIRST | {"output": [2.0, 0.502]}, FIRST, allowed(SMOOTH))
    assert (name, error) == ("output", pytest.approx(1e-3))


def test_the_worst_is_the_worst_for_what_it_is_allowed() -> None:
    ours = FIRST | {"output": [2.0004, 0.5], "gradient/w": [4.02, -1.0]}
    assert disagreement(ours, FIRST, allowed(SMOOTH)) == ("gradient/w", pytest.approx(5e-3))
    assert disagreement(ours, FIRST, allowed(JUMPING)) == ("output", pytest.approx(2e-4))


def test_a_gradient_of_rounding_noise_has_no_say() -> None:
    assert disagreement(FIRST | {"gradient/tiny": [5e-6, -1e-6]}, FIRST, allowed(SMOOTH)) == ("", 0.0)


def test_a_missing_tensor_is_the_worst_there_is() -> None:
    name, error = disagreement({"output": [2.0, 0.5]}, FIRST, allowed(SMOOTH))
    assert name == "gradient/w"
    assert math.isnan(error)
