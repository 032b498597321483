"""retrace: what its counts mean."""

from __future__ import annotations

import pytest

from suite.workloads.catalog import HOME, load

PROBE = load(HOME / "probes" / "retrace")


@pytest.mark.parametrize(
    ("aspect", "figures", "class_"),
    [
        ("shape", {"seconds": 1e-5}, "interprets"),
        ("shape", {"traces": 0, "compiles": 0}, "reuses"),
        ("shape", {"compiles": 0, "seconds": 10.0}, "reuses"),
        ("shape", {"traces": 1, "compiles": 0}, "retraces"),
        ("shape", {"traces": 0, "compiles": 1}, "retraces"),
        ("shape", {"compiles": 2}, "retraces"),
        # One more trace isn't one for each number.
        ("scalars", {"seconds": 1e-4}, "interprets"),
        ("scalars", {"traces": 0, "compiles": 0}, "reuses"),
        ("scalars", {"compiles": 1}, "retraces at times"),
        ("scalars", {"traces": 7, "compiles": 7}, "retraces at times"),
        ("scalars", {"traces": 8, "compiles": 0}, "retraces each time"),
        ("scalars", {"compiles": 9}, "retraces each time"),
    ],
)
def test_counts_are_told_apart(aspect: str, figures: dict[str, float], class_: str) -> None:
    found = PROBE.spec.classify(aspect, figures)
    assert found == class_
    assert found in PROBE.spec.CLASSES
