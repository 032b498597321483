"""The stacks that run on request: they compute what the others do, in the precision, on the cores and with the cache
that a case names. Those with an environment of their own are tried where somebody has made it."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import Any

import pytest

from suite.case import Purpose
from suite.environments import venv
from suite.stacks.catalog import STACKS
from suite.stacks.knobs import processor_flags
from suite.workloads import catalog
from tests.stacks.programs import WITH_CASE, told
from tests.worker import processes
from tests.worker.processes import attempt_of, case_of, columns_of, of, request, run_worker

pytestmark = pytest.mark.stacks
OPENVINO, IREE = pytest.mark.environments("openvino"), pytest.mark.environments("iree")
MARKS = {"openvino": OPENVINO, "iree": IREE, "torch_aot": pytest.mark.release}
FORWARD = ("ops/gemm", "ops/ffn", "ops/mha", "ops/selu", "models/gpt2", "models/resnet50")
TRAINED = ("ops/ffn", "ops/mha", "ops/selu", "models/gpt2")  # resnet50 has a pooling whose gradient IREE lacks
# AOTInductor's compiler takes half a minute for each, and is `torch_inductor`'s.
CASES = [
    *(("openvino", workload, "forward") for workload in FORWARD),
    *(("torch_aot", workload, "forward") for workload in ("ops/ffn", "models/gpt2")),
    *(("iree", workload, "forward") for workload in FORWARD),
    *(("iree", workload, "train") for workload in TRAINED),
]


def ended(stack: str, workload: str, folder: Path, purpose: Purpose = Purpose.TIMED, **fields: Any) -> Any:
    """The events of a worker that runs a case at `tiny`."""
    home = catalog.HOME / workload
    case = case_of(stack=stack, workload=home.name, dims=catalog.load(home).dims("tiny", {}), **fields)
    attempt = dataclasses.replace(attempt_of(case, purpose), seed=0)  # the golden files'
    file = request(attempt, home, folder, changes={"cache_directory": str(folder.parent / "cache")})
    done, events = run_worker(file, venv.ensure(STACKS[stack].environment).python)
    assert events[-1]["event"] == "end", (events[-1], done.stderr[-2000:])
    return events


@pytest.fixture(autouse=True)
def enough_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Compilers take minutes on a busy machine."""
    monkeypatch.setattr(processes, "HUNG_SECONDS", 900)


@pytest.mark.parametrize(("stack", "workload", "pass_"), [pytest.param(*case, marks=MARKS[case[0]]) for case in CASES])
def test_a_stack_on_request_is_held_to_the_same_answers(stack: str, workload: str, pass_: str, tmp_path: Path) -> None:
    events = ended(stack, workload, tmp_path / "one", pass_=pass_)
    assert not of(events, "wrong") and not of(events, "unsupported"), events[-3:]
    found = columns_of(events)
    assert 0 < found["relative_error"] < (2e-5 if workload.startswith("models") else 5e-6)
    assert found["precision_observed"] == "f32"
    assert found["compiles_first"] >= 1 and found["compiles_second"] == 0


@pytest.mark.release
def test_a_package_is_compiled_by_the_first_process_and_loaded_by_the_next(tmp_path: Path) -> None:
    prime = columns_of(ended("torch_aot", "ops/ffn", tmp_path / "prime", Purpose.PRIME, cache="warm"))
    warm = columns_of(ended("torch_aot", "ops/ffn", tmp_path / "warm", cache="warm"))
    assert (tmp_path / "cache" / "inductor" / "call_model-f32.pt2").is_file()
    assert warm["compiles_first"] == 0 and not warm["compile_seconds"]
    assert warm["first_seconds"] < prime.get("first_seconds", float("inf"))


PRECISION = f"""{WITH_CASE}
adapter = adapter_class(case.stack)(case, workload)
adapter.device()
adapter.build()
state, batch = Data(case, workload, 0).place(adapter)
adapter.step(state, batch)
hints, device = adapter.openvino.properties, adapter.core
print(json.dumps(dict(
    forced=str(adapter.compiled.get_property(hints.hint.inference_precision)),
    default=str(device.compile_model(adapter.artefact[0], "CPU").get_property(hints.hint.inference_precision)),
    threads=adapter.compiled.get_property(hints.inference_num_threads),
    streams=int(str(adapter.compiled.get_property(hints.num_streams))),
)))
"""


@OPENVINO
def test_openvino_infers_in_float32_where_its_default_is_bfloat16_on_the_cores_of_the_case() -> None:
    dims = catalog.load(catalog.HOME / "ops/ffn").dims("tiny", {})
    case = case_of(stack="openvino", workload="ffn", dims=dims, threads=2)
    found = told("openvino", PRECISION, json.dumps(case.to_json()))
    default = "<Type: 'bfloat16'>" if "avx512_bf16" in processor_flags() else "<Type: 'float32'>"
    assert found == {"forced": "<Type: 'float32'>", "default": default, "threads": 2, "streams": 1}


PROGRAMS = f"""{WITH_CASE}
def of_seed(seed):
    adapter = adapter_class(case.stack)(case, workload)
    adapter.device()
    adapter.build()
    state, batch = Data(case, workload, seed).place(adapter)
    outputs = [adapter.step(state, batch)[1] for _ in range(2)]
    kept = [adapter.results(output) for output in outputs]
    adapter.step(state, Data(case, workload, seed + 1).place(adapter)[1])
    return dict(
        inputs=len(adapter.compiled.inputs), weights=len(state.weights), batch=len(batch),
        flag=adapter.has_frozen_weights(), stays=bool((adapter.results(outputs[0]) == kept[0]).all()),
        result=kept[0].astype(float).tolist(),
    )

print(json.dumps([of_seed(0), of_seed(5)]))
"""


@OPENVINO
@pytest.mark.parametrize(("track", "frozen"), [("default", False), ("tuned", True)])
def test_openvino_s_weights_are_inputs_or_in_the_tuned_track_constants(track: str, frozen: bool) -> None:
    dims = catalog.load(catalog.HOME / "models/gpt2").dims("tiny", {})
    case = case_of(stack="openvino", workload="gpt2", dims=dims, track=track)
    one, other = told("openvino", PROGRAMS, json.dumps(case.to_json()))
    for found in (one, other):
        assert found["inputs"] == found["batch"] + (0 if frozen else found["weights"])
        assert found["flag"] is frozen and found["stays"]
    assert one["result"] != other["result"]


TYPES = f"""{WITH_CASE}
import numpy as np
adapter = adapter_class(case.stack)(case, workload)
adapter.device()
jnp = adapter.jax.numpy
given = [np.array([250, 3], np.uint8), np.array([True, False]), np.array([1.5, -2.0], jnp.bfloat16), np.int32(7)]
called = adapter.compile(lambda a, b, c, d: (a + a, b, c * c, d))(*given)
print(json.dumps([[str(each.dtype), np.asarray(each).astype(float).tolist()] for each in called]))
"""


@IREE
def test_iree_s_results_have_the_types_that_jax_gives_them() -> None:
    found = told("iree", TYPES, json.dumps(case_of(stack="iree").to_json()))
    assert found == [["uint8", [244, 6]], ["bool", [1, 0]], ["bfloat16", [2.25, 4.0]], ["int32", 7]]
