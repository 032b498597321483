"""side_effects: what its counts mean."""

from __future__ import annotations

import pytest

from suite.workloads.catalog import HOME, load

PROBE = load(HOME / "probes" / "side_effects")


@pytest.mark.parametrize(
    ("aspect", "figures", "class_"),
    [
        ("print", {"times": 10}, "each call"),
        ("print", {"times": 2, "compiles": 2}, "while tracing"),
        ("append", {"times": 1}, "while tracing"),
        ("append", {"times": 0}, "never"),
        ("global", {"right": 10}, "each call"),
        ("global", {"right": 2}, "stale"),
        ("global", {"right": 9, "times": 10}, "stale"),
    ],
)
def test_counts_are_told_apart(aspect: str, figures: dict[str, float], class_: str) -> None:
    found = PROBE.spec.classify(aspect, {"calls": 10} | figures)
    assert found == class_
    assert found in PROBE.spec.CLASSES
