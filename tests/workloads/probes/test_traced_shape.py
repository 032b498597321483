"""traced_shape: what its counts mean."""

from __future__ import annotations

from typing import Any

import pytest

from suite.workloads.catalog import HOME, load

PROBE = load(HOME / "probes" / "traced_shape")
RIGHT: dict[str, Any] = {"calls": 5, "right": 5, "seconds": [2e-4] * 4, "again_seconds": [1e-4] * 20}


@pytest.mark.parametrize(
    ("figures", "class_"),
    [
        ({}, "interprets"),
        ({"compiles": 0}, "one program"),
        ({"compiles": 1, "graph_breaks": 0}, "recompiles"),
        ({"compiles": 4}, "recompiles each time"),
        ({"compiles": 4, "fallback_ops": 5}, "falls back"),
        ({"compiles": 0, "graph_breaks": 1}, "breaks the graph"),
        ({"compiles": 4, "right": 1}, "wrong"),
        ({"compiles": 0, "skipped": 1}, "left to Python"),
        ({"compiles": 0, "seconds": [0.03] * 4}, "recompiles each time"),
    ],
)
def test_counts_are_told_apart(figures: dict[str, Any], class_: str) -> None:
    found = PROBE.spec.classify("zeros", RIGHT | figures)
    assert found == class_
    assert found in PROBE.spec.CLASSES
