"""prng: draws and digests."""

from __future__ import annotations

import numpy as np

from suite.workloads.catalog import HOME, load

SPEC = load(HOME / "probes" / "prng").spec


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
    assert SPEC.classify("digest", {"digest": float(0x0123456789AB)}) == "0123456789ab"
