"""control_flow_scale: no program is asked for twice in a process."""

from __future__ import annotations

import pytest

from suite.workloads.catalog import HOME, load

PROBE = load(HOME / "probes" / "control_flow_scale")


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
