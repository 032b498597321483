"""Which difference counts, and how much is allowed."""

from __future__ import annotations

import math
from types import SimpleNamespace

import numpy as np
import pytest

from suite import protocol
from suite.reference.digests import Difference, difference
from suite.reference.tolerances import Tolerance, Tolerances
from suite.workloads.catalog import find

SMOOTH = SimpleNamespace(OPTIMIZER="adamw")
JUMPING = SimpleNamespace(OPTIMIZER="sgd", GRADIENT_TOLERANCE={"f32": 1e-2}, GRADIENT_DIRECTION={"bf16": (0.5, 0.4)})
OPERATION = SimpleNamespace(OPTIMIZER="adamw", reference=None)


def test_a_tolerance_of_gradients_is_for_gradients_alone_and_never_for_whole_tensors_in_f32() -> None:
    assert Tolerances(JUMPING, "f32").of("gradient/w").error == 1e-2
    assert Tolerances(JUMPING, "f32").of("output").error == protocol.DIGEST_TOLERANCE["f32"]
    assert Tolerances(JUMPING, "f32", exact=True).of("gradient/w").error == protocol.MODEL_TOLERANCE["f32"]
    assert Tolerances(SMOOTH, "f32").of("gradient/w").error == protocol.DIGEST_TOLERANCE["f32"]
    assert Tolerances(OPERATION, "f32", exact=True).of("loss").error == protocol.TOLERANCE["f32"]


def test_movement_by_sgd_is_as_exact_as_gradients_by_adamw_less() -> None:
    assert Tolerances(JUMPING, "f32").of("moved/w") == Tolerances(JUMPING, "f32").of("gradient/w")
    assert Tolerances(SMOOTH, "f32").of("moved/w").error == pytest.approx(2e-2)
    assert Tolerances(SMOOTH, "f32", exact=True).of("moved/w").error == protocol.MOVEMENT_TOLERANCE
    assert Tolerances(SMOOTH, "bf16").of("moved/w").error < 0.5
    assert Tolerances(JUMPING, "f32").of("buffer/mean").error == protocol.DIGEST_TOLERANCE["f32"]


def test_one_element_of_a_small_tensor_may_turn_where_products_are_rounded() -> None:
    moved = np.full(64, 1.0)
    turned = np.concatenate([-moved[:1], moved[1:]])
    error = difference(turned, moved, "moved/w").error
    limits = {precision: Tolerances(SMOOTH, precision, exact=True) for precision in ("f32", "tf32")}
    assert limits["tf32"].of("moved/w").error < error <= limits["tf32"].moved(64).error < 1.0
    assert limits["tf32"].moved(10**6) == limits["tf32"].of("moved/w")
    assert limits["tf32"].moved(1).broken(Difference(1.0, 0.0)), "nothing moved"
    assert limits["f32"].moved(64) == limits["f32"].of("moved/w")


def test_a_late_step_is_held_to_less_than_bfloat16_s_rounding_unless_gradients_jump() -> None:
    values = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    bits = values.view(np.uint32) + 0x7FFF + ((values.view(np.uint32) >> 16) & 1)  # to the nearest
    rounded = (bits & 0xFFFF0000).view(np.float32)
    rounding = difference(rounded, values, "w").error
    assert Tolerances(SMOOTH, "f32").late.error < rounding < Tolerances(JUMPING, "f32").late.error


def test_what_breaks_a_limit() -> None:
    limit = Tolerance(math.inf, cosine=0.5, norm=0.4)
    assert limit.broken(Difference(0.8, 1.0)) == ""
    assert "cosine" in limit.broken(Difference(1.0, 0.0)), "no gradient at all"
    assert "cosine" in limit.broken(Difference(1.4, 1.0)), "another direction"
    assert "norm" in limit.broken(Difference(0.5, 1.5))
    assert limit.broken(Difference(math.nan, math.nan))
    assert "over the tolerance" in Tolerance(1e-3).broken(Difference(2e-3, 1.0))
    assert Tolerance(1e-3).broken(Difference(1e-3, 1.0)) == ""


@pytest.mark.parametrize("name", [name for name, workload in find().items() if not workload.is_probe])
@pytest.mark.parametrize("precision", ["f32", "tf32", "bf16"])
@pytest.mark.parametrize("exact", [True, False])
def test_nothing_at_all_passes_nowhere(name: str, precision: str, exact: bool) -> None:
    """Zeros in place of a gradient or a movement: a relative error of 1, which no tolerance may allow."""
    tolerances = Tolerances(find()[name].spec, precision, exact)
    for key in ("output", "loss", "gradient/w", "moved/w", "buffer/mean"):
        assert tolerances.of(key).broken(Difference(1.0, 0.0)), key
