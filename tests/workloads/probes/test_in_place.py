"""The probe of changes in place: numbers in, class out."""

from __future__ import annotations

import pytest

from suite.workloads.catalog import HOME, load

SPEC = load(HOME / "probes" / "in_place").spec


@pytest.mark.parametrize(
    ("aspect", "figures", "expected"),
    [
        ("assign", {"changed": 1.0}, "changes"),
        ("assign", {"changed": 0.0}, "ignores"),
        ("view", {"slice": 1.0, "reshaped": 1.0}, "both write through"),
        ("view", {"slice": 1.0, "reshaped": 0.0}, "slices alone write through"),
        ("view", {"slice": 1.0}, "slices alone write through"),
        ("view", {"slice": 0.0, "reshaped": 1.0}, "reshaped alone writes through"),
        ("view", {"slice": 0.0, "reshaped": 0.0}, "copies"),
        ("compiled", {"visible": 1.0}, "seen by the caller"),
        ("compiled", {"visible": 0.0}, "not seen"),
        ("donate", {"deleted": 1.0, "reuse_raises": 1.0}, "deleted"),
        ("donate", {"deleted": 1.0, "reuse_raises": 0.0}, "lives"),  # said to be gone, and yet it can be used
        ("donate", {"deleted": 0.0, "reuse_raises": 0.0}, "lives"),
        ("own_way", {"address_stays": 1.0, "seconds": [1.0]}, "in place"),
        ("own_way", {"address_stays": 0.0, "seconds": [1e-9]}, "a new buffer"),  # however fast it was
        ("own_way", {"seconds": [1e-9]}, "measured"),
        ("one_value", {"address_stays": 0.0}, "a new buffer"),
    ],
)
def test_classes(aspect: str, figures: dict[str, object], expected: str) -> None:
    assert SPEC.classify(aspect, figures) == expected
    assert expected in SPEC.CLASSES
