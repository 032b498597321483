"""Stressed weights: formulas that are right at unit variance alone are caught, and correct ones pass with room."""

from __future__ import annotations

import json
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest

from suite import protocol
from suite.errors import UserError
from suite.reference import expected
from suite.reference.digests import difference
from suite.reference.findings import GateFindings
from suite.reference.tolerances import Tolerances
from suite.stacks.base import Adapter
from suite.stacks.numpy import numpy_adapter
from suite.worker.data import Data
from suite.worker.equivalence import gate
from suite.worker.equivalence.comparison import TimedEvidence
from suite.worker.events import Events
from suite.worker.proof import judged
from suite.workloads import catalog
from suite.workloads.tensors import Integers, Normal, Stress, generate_all, stressed
from tests.mutations import make_mutant
from tests.stressed_mutations import STRESSED_MUTANTS
from tests.worker.processes import case_of

UNSHIFTED = {"unshifted": STRESSED_MUTANTS["mha: unshifted_softmax"]}


def gated(
    workload: catalog.Workload, pass_: str, kind: type[Adapter] = numpy_adapter.Adapter, **others: object
) -> GateFindings:
    """The gate of NumPy's step, never timed."""
    case = case_of(workload=workload.name, dims=workload.dims("tiny", {}), pass_=pass_, **others)
    adapter = kind(case, workload)
    adapter.build()
    return gate.run(adapter, Data(case, workload, 3), TimedEvidence())


class Unstable(numpy_adapter.Adapter):
    """A stack that says so of its framework."""

    def is_unstable(self) -> bool:
        return True


def copy_of_mha(**changes: object) -> catalog.Workload:
    """mha with another spec: `reference=None` takes it away."""
    workload = catalog.find()["mha"]
    spec = ModuleType("spec")
    vars(spec).update(vars(workload.spec) | changes)
    for name in [name for name, value in changes.items() if value is None]:
        delattr(spec, name)
    return catalog.Workload("mha", workload.folder, spec)


@pytest.mark.parametrize("pass_", ["forward", "train"])
def test_a_softmax_without_its_maximum_is_wrong_under_stress_alone(pass_: str, tmp_path: Path) -> None:
    workload = catalog.load(make_mutant("unshifted", tmp_path, UNSHIFTED))
    with np.errstate(all="ignore"):
        found = gated(workload, pass_)
    assert found.reasons and all("with stressed weights: relative error nan" in reason for reason in found.reasons)


def test_what_a_framework_is_known_for_is_a_flag_and_no_reason(tmp_path: Path) -> None:
    workload = catalog.load(make_mutant("unshifted", tmp_path, UNSHIFTED))
    with np.errstate(all="ignore"):
        found = gated(workload, "train", Unstable)
    assert found.reasons == []
    assert found.unstable and all("with stressed weights" in reason for reason in found.unstable)
    assert gated(catalog.find()["mha"], "train", Unstable).unstable == [], "it passes: nothing is to be said"
    assert "stressed/output" not in gated(copy_of_mha(reference=None), "train", Unstable).digests


def test_the_row_has_the_flag(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = GateFindings(Tolerances(catalog.find()["mha"].spec, "f32"), unstable=["output with stressed weights: off"])
    monkeypatch.setattr(gate, "run", lambda *_: found)
    events = Events(tmp_path)
    assert judged(None, None, None, events, "f32") == []
    lines = [json.loads(line) for line in (tmp_path / "events.jsonl").read_text().splitlines()]
    assert [line["flag"] for line in lines if line["event"] == "flag"] == ["unstable"]


@pytest.mark.parametrize("size", ["tiny", "quick"])
def test_a_correct_softmax_has_three_times_the_room_it_needs(size: str) -> None:
    workload = catalog.find()["mha"]
    dims = workload.dims(size, {})
    data = Data(case_of(workload="mha", dims=dims, pass_="forward"), workload, 0, under_stress=True)
    weights, batch = dict(data.values()), dict(generate_all(data.batch, "batch", 0))
    output = workload.dialect("numpy").forward(dims, weights, **batch)
    exact = workload.spec.reference(dims, *({n: v.astype(np.float64) for n, v in weights.items()},), **batch)["output"]
    assert 0 < difference(output, exact, "output").error < protocol.STRESSED_TOLERANCE / 3


def test_without_a_reference_stacks_are_compared_by_digests() -> None:
    found = gated(copy_of_mha(reference=None), "train")
    assert {"stressed/output", "stressed/loss"} < found.digests.keys()
    assert found.reasons == []


def test_a_spec_without_stress_is_gated_as_ever_and_other_precisions_in_float32() -> None:
    found = gated(copy_of_mha(reference=None, STRESSED=None), "train")
    assert not any(name.startswith("stressed/") for name in found.digests)
    found = gated(copy_of_mha(reference=None), "forward", precision="tf32")
    assert "stressed/output" in found.digests, "of the step in float32"


def test_a_golden_file_that_knows_no_stress_is_refused_with_the_remedy(tmp_path: Path) -> None:
    workload = catalog.find()["mha"]
    copy = catalog.Workload("mha", tmp_path, copy_of_mha(reference=None).spec)
    one = np.ones(3, np.float32)
    unstressed = expected.ReferenceAnswer({"output": one}, [1.0], moved={"out.bias": one}, shrunk={"out.bias": 0.0})
    expected.save(tmp_path / "golden" / "tiny.npz", unstressed)
    data = Data(case_of(workload="mha", dims=workload.dims("tiny", {}), pass_="train"), copy, 0)
    with pytest.raises(UserError, match=r"STRESSED.*golden --workload=mha --size=tiny"):
        data.expected()


# --- what a spec says ---


def spec_of(**changes: Stress) -> SimpleNamespace:
    tensors = {"up.weight": Normal((2, 3), 0.5), "up.bias": Normal((3,), 0.1, mean=1.0), "norm.weight": Normal((3,))}
    return SimpleNamespace(TITLE="x", STRESSED=changes, parameters=lambda dims: tensors)


def test_factors_and_shifts_change_deviation_and_mean_and_the_first_glob_counts() -> None:
    found = stressed(spec_of(**{"up.bias": Stress(2.0, 5.0), "up.*": Stress(10.0)}), {})
    assert found["up.bias"] == Normal((3,), 0.2, mean=7.0)
    assert found["up.weight"] == Normal((2, 3), 5.0)
    assert found["norm.weight"] == Normal((3,))


def test_a_glob_that_no_parameter_has_and_parameters_that_are_no_numbers_are_refused() -> None:
    with pytest.raises(UserError, match=r"'down\.\*'"):
        stressed(spec_of(**{"down.*": Stress(2.0)}), {})
    spec = spec_of(**{"*": Stress(2.0)})
    spec.parameters = lambda dims: {"ids": Integers((3,), 4)}
    with pytest.raises(TypeError, match="ids"):
        stressed(spec, {})


def test_a_spec_that_stresses_nothing_has_no_stressed_parameters() -> None:
    assert stressed(spec_of(), {}) == {}
    assert stressed(catalog.find()["ffn"].spec, catalog.find()["ffn"].dims("tiny", {})) == {}


@pytest.mark.parametrize("name", ["mha", "bert", "decode", "gpt2", "gpt_neo", "llama", "resnet50", "vit"])
def test_whatever_has_a_softmax_or_a_norm_is_stressed_at_every_size(name: str) -> None:
    workload = catalog.find()[name]
    for size in workload.sizes:
        dims = workload.dims(size, {})
        plain, changed = workload.spec.parameters(dims), stressed(workload.spec, dims)
        assert [*changed] == [*plain]
        assert changed != plain
