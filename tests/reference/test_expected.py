"""Digests, and golden files as they are stored."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.reference import expected
from suite.reference.expected import Digest, Expected
from suite.workloads.tensors import Normal, generate


@given(st.integers(1, 300), st.integers(0, 5))
def test_a_digest_sees_a_change(size: int, seed: int) -> None:
    value = generate(Normal((size,)), "x", seed)
    changed = value.copy()
    changed[-1] += 1.0
    ours, theirs = expected.digest(value, "x"), expected.digest(changed, "x")
    assert ours == expected.digest(value.copy(), "x")
    assert ours.norm == pytest.approx(float(np.linalg.norm(value.astype(np.float64))))
    assert abs(abs(ours.projection - theirs.projection) - 1.0) < 1e-5


def test_a_golden_file_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("golden") / "golden" / "tiny.npz"
    mask = np.array([[True, False, True]])
    value = np.array([[1.0, 2.0, 3.0]], np.float32)
    expected.save(path, Expected(value, [1.0, 0.5, 0.25], {"w": value}, {"w": value, "b": value}, {"w": mask}))
    found = expected.load(path)
    assert found.exact
    assert found.losses == [1.0, 0.5, 0.25]
    np.testing.assert_array_equal(found.noise["w"], mask)
    assert not found.noise["b"].any()
    expected.save(path, Expected(Digest(1.0, 2.0, 3.0), [1.0], {"w": Digest(4.0, 5.0, 6.0)}))
    found = expected.load(path)
    assert (found.exact, found.largest_gradient, found.gradients) == (False, 6.0, {"w": Digest(4.0, 5.0, 6.0)})
