"""dynamic_shape: what its counts mean, and that NumPy's answers are those of its inputs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from suite.workloads.catalog import HOME, load

PROBE = load(HOME / "probes" / "dynamic_shape")
RIGHT: dict[str, Any] = {"calls": 20, "right": 20, "seconds": [2e-4] * 19, "again_seconds": [1e-4] * 20}


@pytest.mark.parametrize(
    ("figures", "class_"),
    [
        ({}, "interprets"),
        ({"compiles": 0}, "one program"),
        ({"compiles": 1, "graph_breaks": 0}, "recompiles once or twice"),
        ({"compiles": 2, "fallback_ops": 0}, "recompiles once or twice"),
        ({"compiles": 7}, "recompiles"),
        ({"compiles": 19}, "recompiles each time"),
        ({"compiles": 57}, "recompiles each time"),
        ({"compiles": 1, "graph_breaks": 1}, "breaks the graph"),
        ({"compiles": 19, "fallback_ops": 20}, "falls back"),
        ({"compiles": 0, "right": 19}, "wrong"),
        ({"compiles": 0, "graph_breaks": 0, "skipped": 1}, "left to Python"),
        ({"compiles": 0, "seconds": [0.1] * 19}, "recompiles each time"),
        ({"compiles": 0, "seconds": [2e-4, *[0.1] * 18]}, "one program"),
    ],
)
def test_counts_are_told_apart(figures: dict[str, Any], class_: str) -> None:
    found = PROBE.spec.classify("mask", RIGHT | figures)
    assert found == class_
    assert found in PROBE.spec.CLASSES


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
