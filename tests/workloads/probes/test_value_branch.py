"""value_branch: what its counts mean."""

from __future__ import annotations

import pytest

from suite.workloads.catalog import HOME, load

PROBE = load(HOME / "probes" / "value_branch")


@pytest.mark.parametrize(
    ("figures", "class_"),
    [
        ({}, "interprets"),
        ({"first_compiles": 0, "compiles": 0}, "interprets"),
        ({"first_compiles": 1, "compiles": 0, "traces": 0}, "one program"),
        ({"first_compiles": 1, "compiles": 1}, "a program per branch"),
        ({"first_compiles": 2, "compiles": 1, "reads": 2, "fallback_ops": 0}, "waits for the value"),
        ({"first_compiles": 2, "compiles": 1, "graph_breaks": 1}, "breaks the graph"),
        ({"first_compiles": 0, "compiles": 0, "skipped": 1}, "left to Python"),
        ({"first_compiles": 1, "compiles": 0, "graph_breaks": 0, "right": 1}, "wrong"),
    ],
)
def test_counts_are_told_apart(figures: dict[str, float], class_: str) -> None:
    found = PROBE.spec.classify("python_if", {"right": 2} | figures)
    assert found == class_
    assert found in PROBE.spec.CLASSES
