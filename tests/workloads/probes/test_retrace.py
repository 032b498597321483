"""retrace: what its counts mean."""

from __future__ import annotations

import pytest

from suite.workloads.catalog import HOME, load

PROBE = load(HOME / "probes" / "retrace")


@pytest.mark.parametrize(
    ("figures", "class_"),
    [
        ({"seconds": 1e-5}, "interprets"),
        ({"traces": 0, "compiles": 0}, "reuses"),
        ({"compiles": 0, "seconds": 10.0}, "reuses"),
        ({"traces": 1, "compiles": 0}, "retraces"),
        ({"traces": 0, "compiles": 1}, "retraces"),
        ({"compiles": 2}, "retraces"),
    ],
)
def test_counts_are_told_apart(figures: dict[str, float], class_: str) -> None:
    found = PROBE.spec.classify("shape", figures)
    assert found == class_
    assert found in PROBE.spec.CLASSES


@pytest.mark.parametrize(
    ("figures", "class_"),
    [
        ({"seconds": 1e-4}, "interprets"),
        ({"traces": 0, "compiles": 0}, "reuses"),
        ({"compiles": 1}, "retraces at times"),
        ({"traces": 7, "compiles": 7}, "retraces at times"),
        ({"traces": 8, "compiles": 0}, "retraces each time"),
        ({"compiles": 9}, "retraces each time"),
    ],
)
def test_one_more_trace_is_not_one_for_each_number(figures: dict[str, float], class_: str) -> None:
    found = PROBE.spec.classify("scalars", figures)
    assert found == class_
    assert found in PROBE.spec.CLASSES


def test_what_is_documented_is_a_class() -> None:
    for aspect, stacks in PROBE.spec.DOCUMENTED.items():
        assert aspect in PROBE.spec.ASPECTS
        assert all(class_ in PROBE.spec.CLASSES for class_, _ in stacks.values())
