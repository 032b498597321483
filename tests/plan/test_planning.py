"""Which cases a selection makes, and why some of them can't run: precisions and tracks."""

from __future__ import annotations

import dataclasses
import shutil
from pathlib import Path
from typing import Any

import pytest

from suite.case import Planned, Purpose
from suite.errors import UserError
from suite.plan import layout, preset
from suite.plan.planning import Selection, choose_stacks, make
from suite.protocol import Protocol
from suite.stacks import knobs
from suite.stacks.catalog import LONE_PRODUCT, STACKS, without_requested
from suite.stacks.names import case_name
from suite.workloads.catalog import find

# The rest is for a TPU alone, or runs on request.
ON_CPU = {
    name for name, stack in STACKS.items() if "cpu" in stack.targets and not (stack.on_request or stack.of_questions)
}
REQUESTED = ("openvino", "torch_aot", "iree")


def plan(changes: dict[str, Any] | None = None, **selection: Any) -> list[Planned]:
    """Every stack on `gemm` forward at `tiny`, but for what is given."""
    chosen = dataclasses.replace(preset.load("tiny"), **changes or {})
    asked = Selection(**{"workloads": ("gemm",), "passes": ("forward",)} | selection)
    return list(make("set", chosen, asked, find(), None, lambda *_: None).cases)


def reasons(**selection: Any) -> dict[str, str | None]:
    return {planned.case.stack: planned.unsupported for planned in plan(**selection)}


def test_a_pass_replaces_those_of_every_question() -> None:
    asked = (
        preset.Question("gemm", "forward"),
        preset.Question("gemm", "train"),
        preset.Question("gemm", "forward", dims={"n": (24,)}),
    )
    cases = [planned.case for planned in plan({"questions": asked}, passes=("train",), stacks=("numpy",))]
    assert [(case.pass_, case.dims["n"] == 24) for case in cases] == [("train", False), ("train", True)]


@pytest.mark.parametrize("target", ["cpu", "tpu"])
def test_tf32_is_nvidias(target: str) -> None:
    found = reasons(precisions=("tf32",), target=target)
    assert set(found) == (ON_CPU if target == "cpu" else set(STACKS) - {*REQUESTED, "numba"})
    assert None not in found.values()
    assert found["jax_jit"] == f"tf32 is arithmetic of NVIDIA GPUs, which a {target} hasn't got"


@pytest.mark.parametrize("target", ["cuda", "tpu"])
def test_rounds_are_for_cpus(target: str) -> None:
    in_rounds = {"protocol": Protocol(sampling="rounds")}
    assert plan(in_rounds)
    with pytest.raises(UserError, match=rf"which a {target} may not allow"):
        plan(in_rounds, target=target)


def test_tf32_runs_on_cuda() -> None:
    found = reasons(precisions=("tf32",), target="cuda")
    assert {stack for stack, reason in found.items() if reason is None} == ON_CPU - {
        "numpy",
        "torch_xla",
        "onnxruntime",
    }


def test_bf16_runs_on_all_but_two() -> None:
    found = reasons(precisions=("bf16",), passes=("forward",))
    assert {stack: reason for stack, reason in found.items() if reason} == {
        "numpy": "NumPy has no bf16 arithmetic",
        "onnxruntime": "ONNX Runtime has no bf16 arithmetic",
    }


def test_what_runs_on_request_is_named_and_no_pattern_stands_for_it() -> None:
    assert {name for name, stack in STACKS.items() if stack.on_request} == {*REQUESTED}
    assert not {*REQUESTED} & reasons().keys() and "torch_aot" not in reasons(stacks=("torch_*",))
    assert reasons(stacks=("*", *REQUESTED)).keys() == ON_CPU | {*REQUESTED}
    assert reasons(stacks=("open*",)).keys() == {"openvino"}, "it can mean nothing else"
    assert without_requested(["torch", "iree", "openvino", "ray"]) == ["torch", "ray"], "torch_aot has torch's"
    assert reasons(stacks=("openvino",), precisions=("bf16",)) == {"openvino": "OpenVINO has no bf16 arithmetic"}
    assert reasons(stacks=("iree",), workloads=("retrace",)) == {"iree": "IREE runs whole programs alone"}
    assert reasons(stacks=("iree",), passes=("train",)) == {"iree": None}


@pytest.mark.parametrize("selection", [{"passes": ("train",)}, {"workloads": ("retrace",)}])
def test_what_was_exported_takes_no_gradients_and_is_not_probed(selection: dict[str, Any]) -> None:
    found = reasons(**selection)
    assert found["torch_eager"] is None
    assert found["onnxruntime"] == "ONNX Runtime runs forward passes alone"


def test_a_stack_without_a_knob_is_not_reported_as_tuned(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knobs, "processor_flags", lambda: frozenset(["", "avx512f"]))
    found = reasons(tracks=("tuned",), workloads=("ffn",))
    untuned = {"numpy", "jax_eager", "torch_eager", "tf_eager", "tf_graph", "keras_jax"}
    assert {stack for stack, reason in found.items() if reason} == untuned
    assert found["tf_graph"] == "no tuned setting of TensorFlow, tf.function is known to change ffn on this cpu"
    assert reasons(tracks=("tuned",), target="tpu")["jax_jit"]
    assert reasons(tracks=("tuned",), workloads=("vit",))["torch_eager"] is None
    assert reasons(tracks=("tuned",), workloads=("ffn",), passes=("train",))["torch_inductor"]
    assert "eager mode" in str(reasons(tracks=("tuned",), workloads=("rnn",))["torch_inductor"])


def test_a_lone_product_has_no_loops_for_xla_s_knob(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knobs, "processor_flags", lambda: frozenset(["", "avx512f"]))
    found = reasons(tracks=("tuned",))
    assert all(found[stack] == LONE_PRODUCT.reason for stack in ("jax_jit", "torch_xla", "torchax_jit", "tf_xla"))
    assert reasons(tracks=("tuned",), passes=("train",))["jax_jit"] is None
    assert reasons()["jax_jit"] is None


def test_both_tracks_are_different_cases_of_one_run() -> None:
    both = [planned.case for planned in plan(tracks=("default", "tuned"), stacks=("jax_jit",))]
    assert [case.track for case in both] == ["default", "tuned"]
    assert len({case.comparison_id for case in both}) == 2
    assert "tuned" in case_name(both[1])


def test_numbers_of_cores_are_questions_of_their_own() -> None:
    cases = [planned.case for planned in plan(stacks=("numpy",), threads=(1, 2))]
    assert [case.threads for case in cases] == [1, 2]
    assert len({case.comparison_id for case in cases}) == 2


def test_a_preset_may_choose_and_an_option_replaces() -> None:
    of_preset = {"tracks": ("tuned",), "precisions": ("bf16",)}
    (planned,) = plan(of_preset, stacks=("jax_jit",))
    assert (planned.case.track, planned.case.precision) == ("tuned", "bf16")
    (planned,) = plan(of_preset, stacks=("jax_jit",), tracks=("default",), precisions=("f32",))
    assert (planned.case.track, planned.case.precision) == ("default", "f32")


@pytest.mark.parametrize(
    ("purpose", "policy"), [(Purpose.TIMED, "kept"), (Purpose.MEMORY, "system"), (Purpose.IR, "kept")]
)
def test_memory_is_asked_by_the_c_library_s_own_rules(purpose: Purpose, policy: str) -> None:
    (planned,) = plan({"purpose": purpose}, stacks=("jax_jit",))
    assert planned.case.allocator == policy
    (planned,) = plan({"purpose": purpose}, stacks=("jax_jit",), allocator="kept")
    assert planned.case.allocator == "kept"


@pytest.mark.parametrize("changes", [{"tracks": ("fast",)}, {"precisions": ("f16",)}])
def test_words_of_a_preset_are_checked(changes: dict[str, Any]) -> None:
    with pytest.raises(UserError, match="Known: "):
        plan(changes)


def test_dims_of_no_size_are_custom_and_others_keep_their_name() -> None:
    cases = [planned.case for planned in plan(stacks=("numpy",), dims=({"n": 100}, {"n": 64}, {"n": 3000}))]
    assert [case.size for case in cases] == ["custom", "tiny", "full"]
    assert case_name(cases[0]) == "gemm-custom-n=100-forward-f32-cpu-numpy"
    assert len({case.comparison_id for case in cases}) == 3


def test_a_size_that_was_asked_for_keeps_its_name_where_another_has_its_dims() -> None:
    (planned,) = plan(stacks=("numpy",), workloads=("ffn",), sizes=("full",))
    assert planned.case.size == "full"
    assert find()["ffn"].dims("quick", {}) == planned.case.dims


def test_the_same_dims_from_two_sizes_are_one_question() -> None:
    (planned,) = plan(stacks=("numpy",), sizes=("tiny", "quick"), dims=({"n": 100},))
    assert planned.case.size == "custom"


@pytest.mark.parametrize(
    ("selection", "said"),
    [
        ({"sizes": ("huge",)}, "Workload 'gemm' has no size 'huge'"),
        ({"workloads": ("GEMM",)}, "Did you mean 'gemm'?"),
        ({"dims": ({"q": 3},)}, "Workload 'gemm' has no dim 'q'"),
        ({"stacks": ("torch",)}, "There is no stack 'torch'"),
    ],
)
def test_what_does_not_exist_is_refused_in_plain_words(selection: dict[str, Any], said: str) -> None:
    with pytest.raises(UserError) as refused:
        plan(**selection)
    assert said in str(refused.value)
    assert ".." not in str(refused.value)


def test_probes_are_observed_in_a_run_of_their_own() -> None:
    chosen = preset.load("quick")
    made = make("set", chosen, Selection(workloads=("retrace",)), find(), None, lambda *_: None)
    assert made.purpose is Purpose.PROBE
    attempts = layout.attempts(made)
    assert {attempt.purpose for attempt in attempts} == {Purpose.PROBE}  # `quick` times in blocks, and explains
    assert {attempt.case.stack for attempt in attempts} == set(choose_stacks(chosen.stacks, "cpu"))
    assert {attempt.block for attempt in attempts} == {0}


@pytest.mark.parametrize(
    ("changes", "workloads", "message"),
    [
        ({}, ("retrace", "gemm"), "retrace is a probe, which are observed in a run of their own, not beside gemm"),
        ({"purpose": Purpose.MEMORY}, ("retrace",), "--purpose=memory isn't for probes"),
        ({"purpose": Purpose.PROBE}, ("gemm",), "gemm can't be observed: --purpose=probe is for probes"),
    ],
)
def test_what_is_timed_and_what_is_observed_are_not_mixed(
    changes: dict[str, Any], workloads: tuple[str, ...], message: str
) -> None:
    with pytest.raises(UserError, match=message):
        plan(changes, workloads=workloads, passes=())


def test_a_glob_reaches_probes_in_a_preset_of_probes_alone() -> None:
    assert "retrace" not in {planned.case.workload for planned in plan(workloads=("*",))}
    asked = {planned.case.workload for planned in plan({"purpose": Purpose.PROBE}, workloads=("re*",))}
    assert asked == {"retrace"}


def test_a_new_probe_is_a_folder_and_nothing_else_is_edited(tmp_path: Path) -> None:
    retrace = find()["retrace"].folder
    for name in ("probe.toml", "spec.py", "retrace_any.py"):
        (tmp_path / "newcomer").mkdir(exist_ok=True)
        shutil.copy(retrace / name, tmp_path / "newcomer" / name.replace("retrace", "newcomer"))
    workloads = find([tmp_path])
    made = make("set", preset.load("behaviour"), Selection(), workloads, None, lambda *_: None)
    asked = {planned.case.workload for planned in made.cases}
    assert asked == {name for name, workload in workloads.items() if workload.is_probe}
    assert "newcomer" in asked


def test_a_preset_that_names_no_workload_says_so() -> None:
    with pytest.raises(UserError, match="There is no workload 'nothing\\*'"):
        plan({"questions": (preset.Question("nothing*", "forward"),)})


def test_a_probe_says_itself_where_it_means_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    workloads = find()
    monkeypatch.setattr(workloads["retrace"].spec, "NOT_ON", {"numpy": "NumPy compiles nothing"}, raising=False)
    made = make("set", preset.load("tiny"), Selection(workloads=("retrace",)), workloads, None, lambda *_: None)
    assert {planned.case.stack: planned.unsupported for planned in made.cases if planned.unsupported} == {
        "numpy": "NumPy compiles nothing",
        "onnxruntime": "ONNX Runtime runs forward passes alone",
    }


def test_a_pattern_leaves_out_what_is_for_another_accelerator_alone_and_a_name_does_not() -> None:
    tpu = {"torch_tpu_eager", "torch_tpu_fused", "torch_tpu_compiled"}
    assert set(reasons(target="tpu")) - ON_CPU == tpu
    assert reasons(target="cuda").keys() == ON_CPU
    assert reasons(stacks=("numpy", "torch_tpu_*")).keys() == {"numpy"}
    assert reasons(stacks=("torch_tpu_*",)).keys() == tpu, "else nothing would say why"
    (reason,) = reasons(stacks=("torch_tpu_fused",)).values()
    assert reason and reason.startswith(
        "TorchTPU, fused eager doesn't run on cpu: there its code runs on torch_eager, "
    )


@pytest.mark.parametrize(
    ("name", "target", "baseline"),
    [("full", "cpu", "torch_eager"), ("full", "cuda", "torch_eager"), ("full", "tpu", "jax_jit")],
)
def test_the_preset_s_baseline_is_for_the_target_or_another_stack_is_chosen(
    name: str, target: str, baseline: str
) -> None:
    asked = Selection(workloads=("gpt2",), target=target)
    assert make("set", preset.load(name), asked, find(), None, lambda *_: None).baseline == baseline
    alone = Selection(workloads=("gpt2",), target=target, stacks=("torch_eager",))
    assert make("set", preset.load(name), alone, find(), None, lambda *_: None).baseline == "torch_eager"


def test_a_preset_s_limit_is_of_a_host() -> None:
    for target, limit in (("cpu", 6 * 2**30), ("cuda", None)):
        asked = Selection(workloads=("gpt2",), target=target)
        planned = make("set", preset.load("oom"), asked, find(), None, lambda *_: None).cases
        assert {each.case.limit_memory_bytes for each in planned} == {limit}
