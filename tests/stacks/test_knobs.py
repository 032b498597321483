"""The tuned track: every knob has a reason and a line in the documentation, and reaches its stack."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.case import TARGETS
from suite.stacks import base, knobs
from suite.stacks.catalog import STACKS, adapter_class
from suite.stacks.xla import compiler
from suite.workloads import catalog
from tests.worker.processes import ROOT, case_of

TUNED = [(stack, knob) for stack in STACKS for knob in adapter_class(stack).knobs]
DOCUMENT = ROOT / "docs" / "why" / "method.md"


def load(name: str) -> catalog.Workload:
    (folder,) = Path(catalog.HOME).glob(f"*/{name}")
    return catalog.load(folder)


def chosen(
    stack: str, workload: str = "gemm", target: str = "cpu", track: str = "tuned", pass_: str = "forward"
) -> frozenset[str]:
    found = load(workload)
    dims = found.dims("tiny", {})
    case = case_of(stack=stack, workload=workload, dims=dims, target=target, track=track, pass_=pass_)
    return knobs.chosen(adapter_class(stack).knobs, case, found)


@pytest.mark.parametrize(("stack", "knob"), TUNED)
def test_a_knob_is_explained_to_the_user(stack: str, knob: knobs.Knob) -> None:
    (line,) = [line for line in DOCUMENT.read_text().splitlines() if f"| `{knob.name}` |" in line]
    assert f"`{stack}`" in line
    assert knob.reason in line
    assert set(knob.targets) <= set(TARGETS)
    assert knob.targets and all(target in line for target in knob.targets)


def test_nothing_is_set_in_the_default_track() -> None:
    for stack in STACKS:
        for target in STACKS[stack].targets:
            assert chosen(stack, "vit", target, "default") == frozenset()
            assert "XLA_FLAGS" not in adapter_class(stack).environ(case_of(stack=stack, target=target), "/nowhere")


def test_what_is_for_images_needs_an_image(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knobs, "processor_flags", lambda: frozenset(["", "avx2"]))
    assert chosen("torch_eager", "gemm") == frozenset()
    assert chosen("torch_eager", "vit") == {"channels_last"}
    assert chosen("torch_inductor", "gemm") < chosen("torch_inductor", "vit")
    for stack in ("torch_eager", "torch_inductor"):
        assert chosen(stack, "vit", target="cuda") == {"channels_last", "cudnn.benchmark"}
        assert chosen(stack, "gemm", target="cuda") == frozenset()


def test_what_a_processor_lacks_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knobs, "processor_flags", lambda: frozenset(["", "avx2"]))
    assert chosen("jax_jit", "ffn") == frozenset()
    assert chosen("torch_eager", "vit") == {"channels_last"}
    monkeypatch.setattr(knobs, "processor_flags", lambda: frozenset(["", "avx2", "avx512f"]))
    assert chosen("jax_jit", "ffn") == {"xla_cpu_prefer_vector_width=512"}
    assert chosen("torch_eager", "ffn") == frozenset()


def test_mkl_is_told_of_a_processor_that_is_not_intel_s(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knobs, "processor_flags", lambda: frozenset(["", "avx2", "AuthenticAMD"]))
    for stack in ("torch_eager", "torch_inductor"):
        frozen = {"frozen_weights"} if stack == "torch_inductor" else set()
        assert chosen(stack, "gemm") == {"mkl_serv_intel_cpu_true"} | frozen
        assert chosen(stack, "vit") == {"mkl_serv_intel_cpu_true", "channels_last"} | frozen
        assert chosen(stack, "selu") == frozenset(), "it has no product"
        assert chosen(stack, "gemm", target="cuda") == frozenset()
    assert chosen("torch_xla", "gemm") == frozenset(), "its products are XLA's"


@pytest.mark.parametrize("stack", ["onnxruntime", "torch_inductor"])
def test_weights_are_frozen_in_a_forward_pass_beside_inputs(stack: str) -> None:
    assert "frozen_weights" in chosen(stack, "ffn")
    assert "frozen_weights" not in chosen(stack, "ffn", pass_="train")
    assert "frozen_weights" not in chosen(stack, "selu"), "its only tensor"


def test_no_default_passes_as_tuned_in_a_worker() -> None:
    """A plan refuses it already; a worker may be on another machine."""
    case = case_of(track="tuned")
    with pytest.raises(base.Unsupported, match="no tuned setting changes gemm on this cpu"):
        adapter_class("numpy")(case, load("gemm"))


def test_this_processor_s_flags_are_those_of_linux() -> None:
    flags = knobs.processor_flags()
    assert {"", "fpu", "sse2"} <= flags, "every processor of x86-64 has these"
    assert flags & {"GenuineIntel", "AuthenticAMD"}, "and a vendor"


def test_stacks_of_other_compilers_inherit_none_of_pytorchs() -> None:
    for stack in ("torch_xla", "torchax_jit"):
        assert "channels_last" not in chosen(stack, "vit")


def test_xla_gets_them_as_options_or_as_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(knobs, "processor_flags", lambda: frozenset(["", "avx2", "avx512f"]))
    assert compiler.compiler_options(frozenset()) is None
    assert compiler.compiler_options({knob.name for knob in compiler.KNOBS}) == {"xla_cpu_prefer_vector_width": "512"}
    for stack in ("tf_xla", "torch_xla"):
        environ = adapter_class(stack).environ(case_of(stack=stack, track="tuned"), "/nowhere")
        assert environ["XLA_FLAGS"] == "--xla_cpu_prefer_vector_width=512"
    assert compiler.flags_environ(case_of(track="tuned", target="tpu")) == {}
    monkeypatch.setattr(knobs, "processor_flags", lambda: frozenset(["", "avx2"]))
    for stack in ("tf_xla", "torch_xla"):
        environ = adapter_class(stack).environ(case_of(stack=stack, track="tuned"), "/nowhere")
        assert "XLA_FLAGS" not in environ, "this processor has no AVX-512"
