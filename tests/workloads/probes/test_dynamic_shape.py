"""dynamic_shape: its inputs, and that NumPy's answers are theirs."""

from __future__ import annotations

import numpy as np
import pytest

from suite.workloads.catalog import HOME, load

PROBE = load(HOME / "probes" / "dynamic_shape")


@pytest.mark.parametrize("size", PROBE.spec.SIZES)
def test_every_call_has_a_shape_of_its_own(size: str) -> None:
    spec, dims = PROBE.spec, PROBE.spec.SIZES[size]
    for aspect in ("mask", "slice", "lengths", "nonzero"):
        shapes = {
            "mask": lambda x: int((x > 0).sum()),
            "slice": lambda x, k: int(k),
            "lengths": len,
            "nonzero": lambda x: int((x > 0).sum()),
        }
        found = {shapes[aspect](*call) for call in spec.inputs(aspect, dims)}
        assert len(found) == dims["calls"] and 1 not in found, "1 is a length that compilers may treat apart"


@pytest.mark.parametrize("size", PROBE.spec.SIZES)
def test_float32_sums_the_inputs_exactly_in_any_order(size: str) -> None:
    spec, dims = PROBE.spec, PROBE.spec.SIZES[size]
    for aspect in ("mask", "slice", "lengths"):
        for call, answer in zip(spec.inputs(aspect, dims), spec.answers(aspect, dims), strict=True):
            assert np.abs(call[0].astype(np.float64)).sum() < 2**24
            assert answer.dtype == np.float32


def test_the_padded_inputs_have_one_length_and_the_same_squares() -> None:
    spec, dims = PROBE.spec, PROBE.spec.SIZES["tiny"]
    padded = spec.padded(dims)
    assert len({len(x) for x, _ in padded}) == 1
    assert [(x[:length] ** 2).sum() for x, length in padded] == spec.answers("lengths", dims)
