"""What a step must give, and golden files as they are stored."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from suite import protocol
from suite.errors import UserError
from suite.reference import expected
from suite.reference.digests import digest
from suite.reference.expected import ReferenceAnswer
from suite.workloads.catalog import find

VALUE = np.array([[1.0, 2.0, 3.0]], np.float32)


def some(**others: object) -> ReferenceAnswer:
    made = ReferenceAnswer(
        {"output": VALUE}, [1.0, 0.5, 0.25], {"w": VALUE}, {"w": VALUE, "b": VALUE}, {"w": 3e-5, "b": 0.0}
    )
    for name, value in others.items():
        setattr(made, name, value)
    return made


def test_a_golden_file_comes_back_as_it_was(tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("golden") / "golden" / "tiny.npz"
    mask = np.array([[True, False, True]])
    expected.save(path, some(noise={"w": mask}))
    found = expected.load(path)
    assert found.exact
    assert (found.losses, found.shrunk) == ([1.0, 0.5, 0.25], {"w": 3e-5, "b": 0.0})
    np.testing.assert_array_equal(found.noise["w"], mask)
    assert "b" not in found.noise
    expected.save(path, some(noise={"w": mask}).digested())
    found = expected.load(path)
    assert (found.exact, found.largest_gradient) == (False, 3.0)
    assert found.gradients == {"w": digest(VALUE, "gradient/w")}
    assert found.moved == {"w": digest(VALUE, "moved/w"), "b": digest(VALUE, "buffer/b")}
    np.testing.assert_array_equal(found.noise["w"], mask)


def test_a_forward_pass_has_a_golden_file_of_its_results_alone(tmp_path: Path) -> None:
    path = tmp_path / "golden" / "tiny.npz"
    both = {"output/0": VALUE, "output/1": 2.0 * VALUE}
    expected.save(path, ReferenceAnswer(both, stressed={"output/1": 3.0 * VALUE}))
    found = expected.load(path)
    assert found.exact and [*found.outputs] == [*both]
    assert all((found.outputs[name] == both[name]).all() for name in both)
    assert (found.stressed["output/1"] == 3.0 * VALUE).all() and [*found.stressed] == ["output/1"]
    assert (found.losses, found.gradients, found.moved) == ([], {}, {})
    expected.save(path, ReferenceAnswer(both).digested())
    assert expected.load(path).outputs == {name: digest(value, name) for name, value in both.items()}


def test_a_golden_file_that_says_nothing_of_movement_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "gpt2" / "golden" / "tiny.npz"
    path.parent.mkdir(parents=True)
    np.savez_compressed(path, losses=np.ones(3), output=VALUE)
    with pytest.raises(UserError, match=r"tools\.golden --workload=gpt2 --size=tiny"):
        expected.load(path)


def test_movement_is_what_is_added_but_for_noise() -> None:
    before, after = np.array([1.0, 2.0, -1.0], np.float32), np.array([1.5, 2.5, -1.0], np.float32)
    np.testing.assert_array_equal(expected.movement(before, after, np.array([True, False, False])), [0.0, 0.5, 0.0])


def test_shrinkage_is_the_decay_whatever_else_moves() -> None:
    random = np.random.default_rng(0)
    p, other = random.normal(size=1 << 18), 1e-3 * random.normal(size=1 << 18)
    assert expected.shrinkage(p, -3e-5 * p) == pytest.approx(3e-5)
    assert expected.shrinkage(p, other - 3e-5 * p) == pytest.approx(3e-5, abs=1e-5)
    assert expected.shrinkage(np.zeros(3), np.ones(3)) == 0.0


@pytest.mark.parametrize("name", ["gemm", "ffn", "mha"])
def test_the_reference_s_movement_is_adamw_s(name: str) -> None:
    """Elements move by the learning rate a step as long as their gradient keeps its sign, and decay on top."""
    from suite.worker.data import Data
    from tests.worker.processes import case_of

    workload = find()[name]
    case = case_of(workload=name, dims=workload.dims("tiny", {}), pass_="train")
    found = Data(case, workload, seed=1).expected()
    assert found is not None
    reach = protocol.LEARNING_RATE * protocol.GATE_STEPS
    for name_of_tensor, moved in found.moved.items():
        rms = float(np.sqrt(np.mean(np.square(moved[~found.noise[name_of_tensor]]))))
        assert 0.5 * reach < rms < 1.1 * reach
    assert found.digested().exact is False
