"""The probe of random numbers: numbers in, class out."""

from __future__ import annotations

import numpy as np
import pytest

from suite.workloads.catalog import HOME, load

SPEC = load(HOME / "probes" / "prng").spec
BITS = 0x0123456789AB


@pytest.mark.parametrize(
    ("aspect", "figures", "expected"),
    [
        ("same_seed", {"equal": 1.0, "difference": 0.0}, "same"),
        ("same_seed", {"equal": 0.0, "difference": 6.0}, "differ"),
        ("two_draws", {"equal": 0.001, "difference": 6.0}, "differ"),
        ("compiled", {"equal": 0.4, "difference": 2e-7}, "same but for rounding"),
        ("compiled", {"equal": 0.4, "difference": 2.0}, "differ"),
        ("split", {"equal": 0.0, "difference": 6.0, "seeds": 1}, "splits"),
        ("split", {"equal": 0.0, "difference": 6.0, "seeds": 2, "again": 0.0}, "a seed each"),
        ("split", {"equal": 0.0, "difference": 6.0, "seeds": 2, "again": 1.0}, "a seed each, draws repeat"),
        ("split", {"equal": 1.0, "difference": 0.0, "seeds": 1}, "same"),  # no streams at all
        ("digest", {"digest": float(BITS)}, "0123456789ab"),
        ("normals", {"seconds": [0.1, 0.2]}, "measured"),
    ],
)
def test_classes(aspect: str, figures: dict[str, object], expected: str) -> None:
    assert SPEC.classify(aspect, figures) == expected


def test_draws_are_compared_bit_by_bit() -> None:
    numbers = np.random.default_rng(0).standard_normal(1000, np.float32)
    nudged = numbers.copy()
    nudged[7] = np.nextafter(nudged[7], np.float32(9))
    assert SPEC.classify("compiled", SPEC.compared(numbers, numbers.copy())) == "same"
    assert SPEC.classify("compiled", SPEC.compared(numbers, nudged)) == "same but for rounding"
    assert SPEC.classify("compiled", SPEC.compared(numbers, numbers[::-1].copy())) == "differ"


def test_another_number_is_another_digest() -> None:
    numbers = np.linspace(0, 1, 1000, dtype=np.float32)
    other = numbers.copy()
    other[-1] = np.nextafter(other[-1], np.float32(9))
    assert SPEC.digest(numbers) == SPEC.digest(numbers.copy()) != SPEC.digest(other)
    assert float(SPEC.digest(numbers)) == SPEC.digest(numbers) < 2**48  # as a figure it is a float
