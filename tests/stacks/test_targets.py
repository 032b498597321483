"""What each stack sets on each target, f32 as every framework sees it, and machines without the target's hardware."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from suite.case import PRECISIONS
from suite.environments import locks, venv
from suite.stacks import base
from suite.stacks.catalog import STACKS, adapter_class
from suite.stacks.threads import thread_environ
from suite.workloads import catalog
from tests.stacks.programs import told
from tests.worker.processes import attempt_of, case_of, of, request, run_worker

GEMM = catalog.HOME / "ops" / "gemm"
ON_TARGETS = [(stack, target) for stack in STACKS for target in STACKS[stack].targets]
EVERYWHERE = {  # of a case with 3 threads
    "numpy": {},
    "numba": {"NUMBA_NUM_THREADS": "3", "NUMBA_CACHE_DIR": "/caches/one/numba"},
    "jax": {"JAX_ENABLE_X64": "0", "JAX_DEFAULT_MATMUL_PRECISION": "highest"},
    "torch": {},
    "onnxruntime": {},
    "openvino": {},
    "tensorflow": {"TF_NUM_INTEROP_THREADS": "3", "TF_ENABLE_ONEDNN_OPTS": "1", "TF_CPP_MIN_LOG_LEVEL": "1"},
}
CUDA = {"CUDA_CACHE_DISABLE": "1", "CUDA_DEVICE_ORDER": "PCI_BUS_ID"}
JAX = {
    "cpu": {"JAX_PLATFORMS": "cpu"},
    "tpu": {"JAX_PLATFORMS": "tpu"},
    "cuda": CUDA
    | {"JAX_PLATFORMS": "cuda", "XLA_PYTHON_CLIENT_PREALLOCATE": "false", "XLA_CLIENT_MEM_FRACTION": "1.0"},
}
# What a stack's environment adds by target: one row for each that has a lock.
ADDED = {
    "numpy": {"cpu": {}},
    "numba": {"cpu": {}},
    "jax": JAX,
    "torchax": JAX,
    "torch": {"cpu": {}, "cuda": CUDA},
    "onnxruntime": {"cpu": {}},
    "openvino": {"cpu": {}},
    "iree": JAX,
    "torch_xla": {"cpu": {"PJRT_DEVICE": "CPU"}, "tpu": {"PJRT_DEVICE": "TPU"}},
    "torch_tpu": {"tpu": {}},
    "tensorflow": {"cpu": {}, "cuda": CUDA | {"TF_FORCE_GPU_ALLOW_GROWTH": "true"}, "tpu": {}},
}
INDUCTOR = {"TORCHINDUCTOR_CACHE_DIR": "/caches/one/inductor"}
# What a stack adds to its environment.
OWN: dict[str, dict[str, str]] = {
    "iree": {"IREE_PY_RUNTIME_FLAGS": "--task_topology_group_count=3"},
    "torch_aot": INDUCTOR | {"TRITON_CACHE_DIR": "/caches/one/triton"},
    "torch_inductor": INDUCTOR | {"TRITON_CACHE_DIR": "/caches/one/triton"},
    "keras_torch": INDUCTOR | {"TRITON_CACHE_DIR": "/caches/one/triton"},
    "torch_tpu_eager": {"TORCH_TPU_DEFER_AND_FUSE": "0"},
    "torch_tpu_fused": {"TORCH_TPU_DEFER_AND_FUSE": "1"},
    "torch_tpu_compiled": INDUCTOR | {"TORCH_TPU_DEFER_AND_FUSE": "0"},
}

# A framework's own settings, read after the adapter has made them. None of it needs the hardware that it is for.
# By precision.
SETTINGS: dict[str, dict[str, dict[str, Any]]] = {
    "jax_jit": {
        "framework.config.jax_default_matmul_precision": {
            "f32": "highest",
            "tf32": "tensorfloat32",
            "bf16": "bfloat16",
        },
        "framework.config.jax_enable_x64": dict.fromkeys(PRECISIONS, False),
    },
    "torch_eager": {
        "framework.get_float32_matmul_precision()": {"f32": "highest", "tf32": "high", "bf16": "highest"},
        "framework.backends.cuda.matmul.fp32_precision": {"f32": "ieee", "tf32": "tf32", "bf16": "ieee"},
        "framework.backends.cuda.matmul.allow_tf32": {"f32": False, "tf32": True, "bf16": False},
        "framework.backends.cudnn.conv.fp32_precision": {"f32": "none", "tf32": "tf32", "bf16": "none"},
        "framework.backends.cudnn.allow_tf32": {"f32": False, "tf32": True, "bf16": False},
    },
    "torch_xla": {"framework.backends.get_mat_mul_precision()": {"f32": "highest", "bf16": "default"}},
    "torchax_jit": {
        "__import__('jax').config.jax_default_matmul_precision": {
            "f32": "highest",
            "tf32": "tensorfloat32",
            "bf16": "bfloat16",
        }
    },
    "tf_graph": {
        "framework.config.experimental.tensor_float_32_execution_enabled()": {"f32": False, "tf32": True, "bf16": False}
    },
}
READ = """
import importlib, json, os, sys
from pathlib import Path
from suite.case import Case
from suite.stacks.catalog import IMPORTS, STACKS, adapter_class
from suite.workloads import catalog
found, workload = [], catalog.load(Path(sys.argv[1]))
for asked, expressions in json.loads(sys.argv[2]):
    case = Case.from_json(asked)
    adapter = adapter_class(case.stack)
    os.environ.update(adapter.environ(case, "/nowhere"))
    adapter(case, workload)
    framework = importlib.import_module(IMPORTS[STACKS[case.stack].environment][0])
    found.append({expression: eval(expression) for expression in expressions})
print(json.dumps(found))
"""


@pytest.mark.parametrize(("stack", "target"), ON_TARGETS)
def test_exactly_these_variables_are_set(stack: str, target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "77")
    environment = STACKS[stack].environment
    always = EVERYWHERE["jax" if environment in ("torchax", "iree") else re.sub("_(xla|tpu)$", "", environment)]
    own = OWN.get(stack, {})
    if STACKS[stack].native:
        own = own | {"KERAS_BACKEND": environment, "KERAS_HOME": "/caches/one/keras"}
    if stack == "keras_torch":
        own = own | {"KERAS_TORCH_DEVICE": target}
    case = case_of(stack=stack, target=target, threads=3)
    wanted = thread_environ(3) | always | ADDED[environment][target] | own
    assert adapter_class(stack).environ(case, "/caches/one") == wanted


def test_a_question_s_model_in_jax_is_made_on_the_host_beside_an_accelerator() -> None:
    for target, platforms in {"cpu": "cpu", "cuda": "cuda,cpu", "tpu": "tpu,cpu"}.items():
        case = case_of(stack="jax_jit", target=target, implementation="model")
        assert adapter_class("jax_jit").environ(case, "/nowhere")["JAX_PLATFORMS"] == platforms


@pytest.mark.parametrize("machine", ["x86_64", "aarch64"])
def test_tensorflow_s_default_is_stated_where_it_is_the_same_for_all_processors(
    machine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platform.machine", lambda: machine)
    variables = adapter_class("tf_eager").environ(case_of(stack="tf_eager"), "/caches/one")
    assert ("TF_ENABLE_ONEDNN_OPTS" in variables) is (machine == "x86_64")


def test_every_target_of_a_stack_has_a_lock_and_every_lock_a_stack() -> None:
    locked = {(name, target) for target in ("cpu", "cuda", "tpu") for name in locks.names(target)}
    assert {(STACKS[stack].environment, target) for stack, target in ON_TARGETS} == locked
    assert all(locks.newest(name, target).exists for name, target in locked)


def test_the_versions_of_each_build_of_tensorflow_are_recorded() -> None:
    assert {"tensorflow", "tensorflow-cpu", "tensorflow-tpu"} <= set(adapter_class("tf_xla").packages)


def test_no_device_is_said_in_the_frameworks_words_on_one_short_line() -> None:
    class Bare(base.Adapter):
        device = matmul = build = place = step = wait = fetch = read = update = lambda self, *a: None  # type: ignore[assignment]

    bare = Bare(case_of(target="tpu"), catalog.load(GEMM))
    said = str(bare.no_device(RuntimeError("no backend\n\twhatever" + 1000 * " trace")))
    assert said.startswith("no tpu device was found: RuntimeError: no backend whatever trace")
    assert len(said) < 350


@pytest.mark.parametrize(("capability", "words"), [((7, 5), "8.0 or newer; this one has 7.5"), ([8, 0], None)])
def test_tf32_needs_ampere(capability: Sequence[int], words: str | None) -> None:
    adapter = adapter_class("numpy")(case_of(precision="tf32", target="cuda"), catalog.load(GEMM))
    with pytest.raises(base.Unsupported, match=words) if words else nullcontext():
        adapter.require_tf32(capability)
    adapter_class("numpy")(case_of(target="cuda"), catalog.load(GEMM)).require_tf32((7, 0))  # f32 runs anywhere


def test_memory_is_the_devices_and_unknown_on_a_cpu() -> None:
    asked = {"GPU:0": {"current": 1, "peak": 2}}  # as TensorFlow's get_memory_info answers
    adapter = object.__new__(adapter_class("tf_xla"))
    adapter.tf = SimpleNamespace(config=SimpleNamespace(experimental=SimpleNamespace(get_memory_info=asked.get)))
    adapter.logical = SimpleNamespace(name="/device:GPU:0")
    adapter.case = case_of(target="cuda")
    assert adapter.memory() == {"device_peak_bytes": 2, "device_reserved_bytes": None, "device_total_bytes": None}
    reserved = {"peak_bytes_in_use": 3, "peak_bytes_reserved": 20, "bytes_limit": 99}  # as a TPU's runtime counts
    adapter = object.__new__(adapter_class("jax_jit"))
    adapter.jax = SimpleNamespace(local_devices=lambda: [SimpleNamespace(memory_stats=lambda: reserved)])
    for target, peak in (("tpu", 23), ("cuda", 3)):
        adapter.case = case_of(target=target)
        assert adapter.memory()["device_peak_bytes"] == peak
    for stack in ("tf_xla", "torch_eager", "torch_inductor", "torch_xla"):
        adapter = object.__new__(adapter_class(stack))
        adapter.case = case_of()
        assert set(adapter.memory().values()) == {None}


def test_tensorflow_waits_for_the_device_that_computes_alone() -> None:
    called: list[str] = []
    adapter = object.__new__(adapter_class("tf_eager"))
    adapter.logical = SimpleNamespace(name="/device:GPU:0")
    adapter.tf = SimpleNamespace(
        device=lambda name: nullcontext(called.append(name)),
        raw_ops=SimpleNamespace(SyncDevice=lambda: called.append("wait")),
    )
    for target in ("cpu", "cuda"):
        adapter.case = case_of(target=target)
        adapter.wait(None, None)
    assert called == ["/device:GPU:0", "wait"]


@pytest.mark.stacks
@pytest.mark.parametrize("stack", SETTINGS)
def test_precision_is_set_and_never_a_default(stack: str) -> None:
    """One process is asked for each in turn, and twice for the first: nothing stays of the one before."""
    asked = (*PRECISIONS, PRECISIONS[0])
    wanted = [
        {expression: values[precision] for expression, values in SETTINGS[stack].items() if precision in values}
        for precision in asked
    ]
    questions = [
        (case_of(stack=stack, precision=precision).to_json(), list(settings))
        for precision, settings in zip(asked, wanted, strict=True)
    ]
    assert told(STACKS[stack].environment, READ, str(GEMM), json.dumps(questions)) == wanted


TORCH_TPU = [
    pytest.param(
        stack, "tpu", "device type at start of device string: tpu", marks=pytest.mark.environments("torch_tpu")
    )
    for stack in STACKS
    if stack.startswith("torch_tpu_")
]


# The environments of target cpu have no other target's libraries, so this holds on a machine with a GPU as well.
@pytest.mark.stacks
@pytest.mark.parametrize(
    ("stack", "target", "words"),
    [
        ("jax_jit", "cuda", "JAX sees no NVIDIA GPU|backend"),
        ("jax_jit", "tpu", "Unable to initialize backend 'tpu'"),
        ("torch_eager", "cuda", "Torch not compiled with CUDA enabled|Found no NVIDIA driver"),
        ("torch_xla", "tpu", "libtpu not found"),
        *TORCH_TPU,
        ("torchax_jit", "cuda", "JAX sees no NVIDIA GPU|backend"),
        ("tf_graph", "cuda", "TensorFlow lists no GPU"),
        ("tf_graph", "tpu", "TPUs not found"),
    ],
)
def test_a_device_that_is_not_there_is_unsupported(stack: str, target: str, words: str, tmp_path: Path) -> None:
    made = venv.ensure(STACKS[stack].environment, "cpu" if "cpu" in STACKS[stack].targets else target)
    file = request(attempt_of(case_of(stack=stack, target=target)), GEMM, tmp_path)
    done, events = run_worker(file, made.python)
    (told,) = of(events, "unsupported")
    assert told["reason"].startswith(f"no {target} device was found: ")
    assert re.search(words, told["reason"])
    assert [event["phase"] for event in of(events, "phase")][-1] == "device"
    assert done.returncode == 1
