"""control_flow_scale: what its counts mean, and that no program is asked for twice in a process."""

from __future__ import annotations

from typing import Any

import pytest

from suite.workloads.catalog import HOME, load

PROBE = load(HOME / "probes" / "control_flow_scale")


@pytest.mark.parametrize(
    ("aspect", "figures", "class_"),
    [
        ("unrolled", {"seconds": [1e-4, 6e-3]}, "interprets"),
        ("unrolled", {"compiles": [0, 0], "operations": [2, 128]}, "interprets"),
        ("unrolled", {"compiles": [1, 1], "operations": [2, 128]}, "grows with depth"),
        ("unrolled", {"compiles": [1, 1], "operations": [4, 67], "seconds": [0.1, 0.1]}, "grows with depth"),
        ("scanned", {"compiles": [1, 1], "operations": [1, 1], "seconds": [0.03, 0.2]}, "flat"),
        ("scanned", {"compiles": [1, 1], "operations": [20, 21]}, "flat"),
        ("batch", {"compiles": [1, 1], "operations": [4, 4]}, "flat"),
        ("sequence", {"compiles": [1, 1], "operations": [32, 512]}, "grows"),
    ],
)
def test_counts_are_told_apart(aspect: str, figures: dict[str, Any], class_: str) -> None:
    found = PROBE.spec.classify(aspect, figures)
    assert found == class_
    assert found in PROBE.spec.CLASSES


@pytest.mark.parametrize("size", PROBE.spec.SIZES)
def test_no_program_comes_twice(size: str) -> None:
    """Lazy tensors know a program again by its graph, whichever function made it."""
    spec, dims = PROBE.spec, PROBE.spec.SIZES[size]
    asked = [point for aspect in ("unrolled", "batch", "sequence") for point in spec.points(aspect, dims)]
    asked.append((spec.WARM, dims["batch"], dims["sequence"]))
    assert len(asked) == len(set(asked))


def test_depths_begin_with_one_layer_and_end_at_the_depth() -> None:
    assert PROBE.spec.depths(PROBE.spec.SIZES["tiny"]) == [1, 4, 16]
    assert PROBE.spec.depths(PROBE.spec.SIZES["quick"]) == [1, 4, 16, 64]
