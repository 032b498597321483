"""The catalogue and the parts that all adapters share."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.stacks import base
from suite.stacks.catalog import STACKS, adapter_class
from tests.worker.processes import case_of

FRAMEWORKS = {
    "jax",
    "jaxlib",
    "torch",
    "torch_tpu",
    "torch_xla",
    "torchax",
    "tensorflow",
    "keras",
    "optax",
    "onnx",
    "onnxruntime",
    "onnxscript",
    "numba",
    "openvino",
    "iree",
}
names = st.lists(st.text("abxyz_019", min_size=1, max_size=4), min_size=1, max_size=4)


def test_the_stacks() -> None:
    assert tuple(STACKS) == (
        "numpy",
        "jax_eager",
        "jax_jit",
        "torch_eager",
        "torch_inductor",
        "torch_xla",
        "torchax_jit",
        "torch_tpu_eager",
        "torch_tpu_fused",
        "torch_tpu_compiled",
        "tf_eager",
        "tf_graph",
        "tf_xla",
        "keras_jax",
        "keras_torch",
        "keras_tf",
        "onnxruntime",
        "openvino",
        "torch_aot",
        "iree",
        "numba",
    )
    for stack in STACKS.values():
        assert stack.dialect in ("numpy", "jax", "torch", "tf", "keras", "numba")
        assert stack.compiled == (stack.eager is not None or stack.compiler != "")
        assert (stack.native is not None) == (stack.dialect == "keras")
        if stack.native:
            assert STACKS[stack.native].environment == stack.environment
            assert stack.predicted_on == ()
        if stack.eager:
            assert STACKS[stack.eager].dialect == stack.dialect
            assert not STACKS[stack.eager].compiled


def test_adapter_modules_import_without_their_framework() -> None:
    code = (
        "import sys\nfrom suite.stacks.catalog import STACKS, adapter_class\n"
        "for name in STACKS: adapter_class(name)\n"
        f"print(sorted({FRAMEWORKS!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("stack", STACKS)
def test_a_cold_case_names_no_shared_cache(stack: str) -> None:
    environ = adapter_class(stack).environ
    cold, warm = environ(case_of(stack=stack), None), environ(case_of(stack=stack, cache="warm"), "/caches/one")
    assert not any("/caches/one" in value for value in cold.values())
    if STACKS[stack].compile_cache:
        assert any(value.startswith("/caches/one") for value in warm.values())


def test_nested_by_hand() -> None:
    tensors = {"up.weight": 1, "up.bias": 2, "b": 3}
    assert base.nested(tensors) == {"up": {"weight": 1, "bias": 2}, "b": 3}
    assert base.flat({"up": {"weight": 1, "bias": 2}, "b": 3}) == tensors


@given(st.dictionaries(names.map(".".join), st.integers(), max_size=8))
def test_nested_and_flat_are_inverse(tensors: dict[str, Any]) -> None:
    # A name can't be both a tensor and a module.
    clear = {n: v for n, v in tensors.items() if not any(o.startswith(f"{n}.") for o in tensors)}
    assert base.flat(base.nested(clear)) == clear


def test_counters_and_memory_are_unknown_by_default() -> None:
    class Silent(base.Adapter):
        device = matmul = build = place = step = wait = fetch = read = update = lambda self, *a: None  # type: ignore[assignment]

    class Spec:
        OPTIMIZER = None

    class Nothing:
        spec, is_probe = Spec, True

    silent = Silent(case_of(), Nothing)  # type: ignore[arg-type]
    assert set(silent.counters().values()) == {None}
    assert silent.memory() == dict.fromkeys(base.DEVICE_FIGURES)
    assert silent.program_memory(None, None) == dict.fromkeys(base.PROGRAM_FIGURES)
