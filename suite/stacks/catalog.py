"""The catalogue of stacks, one row for each. It needs the standard library only; the worker loads adapters by name.

`add` adds stacks from outside the repository to the catalogue of this process. Such a stack is a file
`<stack>_adapter.py` with the class `Adapter` and, as `STACK`, its row; docs/how-to/stack.md shows one.
"""

from __future__ import annotations

import importlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from suite.case import NAME
from suite.errors import UserError
from suite.workloads.catalog import load_module


@dataclass(frozen=True, slots=True)
class Exclusion:
    """Cases that a stack can't run, and the `reason`: all whose fields equal `match`."""

    reason: str
    match: dict[str, str]


@dataclass(frozen=True, slots=True)
class Stack:
    """How a dialect's code is executed, in which environment, and what it can't do."""

    name: str
    title: str  # the framework, in its own name, and after a comma how it executes: `JAX, jit`
    dialect: str
    environment: str
    eager: str | None = None  # the stack that runs the same code uncompiled, for eager-against-compiled
    native: str | None = None  # of a framework upon others: the stack of the same framework without it
    targets: tuple[str, ...] = ("cpu", "cuda", "tpu")
    precisions: tuple[str, ...] = ("f32", "tf32", "bf16")  # tf32 on cuda only
    mixed_precision: str = ""  # which part of a bf16 step is in bfloat16: one word, part of the case's name
    compiler: str = ""  # "XLA" or "Inductor", if this compiler's programs can be read
    on_shapes: bool = False  # can run a step on shapes alone, in which its allocations are counted
    forward_only: bool = False  # takes no gradients
    probed: bool = True  # probes can run on it: not where a program is exported as a whole
    compile_cache: bool = False  # keeps compiled code on disk for the next process
    of_questions: bool = False  # its dialect is a form of question files alone: a workload's folder isn't asked in it
    on_request: bool = False  # only by its name: no pattern stands for it, and `setup` doesn't make its environment
    needs: tuple[str, ...] = ()  # programs that must be on the machine
    estimate_seconds: float = 6.0  # start-up and compile of one small case on 2 cores, for --dry-run
    base_bytes: int = 0  # of its smallest build on a CPU, before anything is placed: anonymous memory, as limits count
    exclusions: tuple[Exclusion, ...] = field(default=())
    file: Path | None = None  # the adapter's file, for a stack from outside the repository

    @property
    def framework(self) -> str:
        return self.title.partition(", ")[0]

    @property
    def compiled(self) -> bool:
        return self.eager is not None or bool(self.compiler)

    @property
    def predicted_on(self) -> tuple[str, ...]:
        """Returns the targets for which the stack's steps can be predicted on a machine without that hardware."""
        # Keras gives a model's variables their values, so it can't build one on shapes alone; and where a stack has no
        # CPU, its program can't be captured.
        if self.native or "cpu" not in self.targets:
            return ()
        if self.compiler == "XLA":
            return tuple(target for target in self.targets if target != "cpu")
        return ("cuda",) if self.on_shapes else ()


MIB = 2**20
# The frameworks' mixed precisions. In JAX parameters and inputs are cast to bfloat16, so that all later operations are
# in it; PyTorch's autocast casts by its lists of operations; in TensorFlow the operands of products are cast.
# In Keras it is a policy, by which each layer casts its inputs and weights.
PARAMETERS, AUTOCAST, PRODUCTS, POLICY = "parameters", "autocast", "products", "policy"

# For the tuned track. tests/stacks/test_knobs_act.py shows that the knob changes every case it runs except this one.
LONE_PRODUCT = Exclusion("XLA computes a lone matrix product by a library; XLA's only knob, the vector width, acts on "
                         "the loops that XLA generates",
                     {"track": "tuned", "target": "cpu", "workload": "gemm", "pass": "forward"})  # fmt: skip

STACKS: dict[str, Stack] = {
    stack.name: stack
    for stack in (
        Stack("numpy", "NumPy", "numpy", "numpy", targets=("cpu",), precisions=("f32",),
              estimate_seconds=1.5, base_bytes=18 * MIB),
        Stack("jax_eager", "JAX, op by op", "jax", "jax", mixed_precision=PARAMETERS, estimate_seconds=4.0,
              base_bytes=26 * MIB),
        Stack("jax_jit", "JAX, jit", "jax", "jax", eager="jax_eager", mixed_precision=PARAMETERS,
              compile_cache=True, compiler="XLA", estimate_seconds=4.0, base_bytes=26 * MIB,
              exclusions=(LONE_PRODUCT,)),
        Stack("torch_eager", "PyTorch, eager", "torch", "torch", targets=("cpu", "cuda"),
              mixed_precision=AUTOCAST, on_shapes=True, estimate_seconds=6.0, base_bytes=130 * MIB),
        # On cuda Triton compiles its launcher with a C compiler, which comes with a C++ compiler.
        Stack("torch_inductor", "PyTorch, torch.compile", "torch", "torch", eager="torch_eager",
              targets=("cpu", "cuda"), mixed_precision=AUTOCAST, compile_cache=True,
              needs=("C++ compiler",), compiler="Inductor", estimate_seconds=30.0, base_bytes=170 * MIB,
              exclusions=(
                  Exclusion("nn.LSTM runs as in eager mode: torch_eager has its tuned time",
                            {"track": "tuned", "workload": "rnn", "pass": "forward"}),
              )),
        # No cuda: PyTorch/XLA gave up CUDA in 2.8, and 2.9 has neither wheels nor a plugin for it.
        Stack("torch_xla", "PyTorch/XLA", "torch", "torch_xla", eager="torch_eager", targets=("cpu", "tpu"),
              mixed_precision=AUTOCAST, compiler="XLA", estimate_seconds=9.0, base_bytes=340 * MIB,
              exclusions=(LONE_PRODUCT,)),
        Stack("torchax_jit", "torchax, jit", "torch", "torchax", eager="torch_eager",
              mixed_precision=AUTOCAST, compile_cache=True, compiler="XLA", estimate_seconds=7.0,
              base_bytes=400 * MIB, exclusions=(LONE_PRODUCT,)),
        # Native PyTorch on TPUs, which PyTorch/XLA (last release 2.9.0, last commit of December 2025) leaves to them.
        Stack("torch_tpu_eager", "TorchTPU, eager", "torch", "torch_tpu", targets=("tpu",), mixed_precision=AUTOCAST,
              estimate_seconds=20.0, base_bytes=430 * MIB),
        Stack("torch_tpu_fused", "TorchTPU, fused eager", "torch", "torch_tpu", eager="torch_tpu_eager",
              targets=("tpu",), mixed_precision=AUTOCAST, estimate_seconds=20.0, base_bytes=430 * MIB),
        Stack("torch_tpu_compiled", "TorchTPU, torch.compile", "torch", "torch_tpu", eager="torch_tpu_eager",
              targets=("tpu",), mixed_precision=AUTOCAST, compiler="XLA", compile_cache=True,
              estimate_seconds=30.0, base_bytes=430 * MIB),
        Stack("tf_eager", "TensorFlow, eager", "tf", "tensorflow", mixed_precision=PRODUCTS, estimate_seconds=8.0,
              base_bytes=240 * MIB),
        Stack("tf_graph", "TensorFlow, tf.function", "tf", "tensorflow", eager="tf_eager",
              mixed_precision=PRODUCTS, estimate_seconds=8.0, base_bytes=240 * MIB),
        Stack("tf_xla", "TensorFlow, XLA", "tf", "tensorflow", eager="tf_eager",
              mixed_precision=PRODUCTS, compiler="XLA", estimate_seconds=8.0, base_bytes=240 * MIB,
              exclusions=(LONE_PRODUCT,)),
        # Keras leaves PyTorch uncompiled, and compiles by tf.function on a CPU, with XLA on a GPU.
        Stack("keras_jax", "Keras, on JAX", "keras", "jax", native="jax_jit", mixed_precision=POLICY, compiler="XLA",
              estimate_seconds=6.0, base_bytes=130 * MIB),
        Stack("keras_torch", "Keras, on PyTorch, eager", "keras", "torch", native="torch_eager",
              targets=("cpu", "cuda"), mixed_precision=POLICY, estimate_seconds=9.0, base_bytes=170 * MIB),
        Stack("keras_tf", "Keras, on TensorFlow", "keras", "tensorflow", native="tf_graph", mixed_precision=POLICY,
              estimate_seconds=10.0, base_bytes=260 * MIB),
        Stack("onnxruntime", "ONNX Runtime", "torch", "onnxruntime", eager="torch_eager", targets=("cpu",),
              precisions=("f32",), forward_only=True, probed=False, estimate_seconds=10.0, base_bytes=200 * MIB),
        Stack("openvino", "OpenVINO", "torch", "openvino", eager="torch_eager", targets=("cpu",),
              precisions=("f32",), forward_only=True, probed=False, on_request=True, estimate_seconds=10.0,
              base_bytes=200 * MIB),
        Stack("torch_aot", "PyTorch, AOTInductor", "torch", "torch", eager="torch_eager", targets=("cpu",),
              mixed_precision=AUTOCAST, forward_only=True, probed=False, on_request=True, compile_cache=True,
              needs=("C++ compiler",), estimate_seconds=40.0, base_bytes=170 * MIB),
        Stack("iree", "IREE", "jax", "iree", eager="jax_eager", targets=("cpu",), mixed_precision=PARAMETERS,
              probed=False, on_request=True, estimate_seconds=10.0, base_bytes=40 * MIB),
        Stack("numba", "Numba", "numba", "numba", targets=("cpu",), precisions=("f32",), forward_only=True,
              probed=False, of_questions=True, estimate_seconds=4.0, base_bytes=36 * MIB),
    )
}  # fmt: skip

BASELINE = "torch_eager"  # for a preset that names no baseline
READER = "jax"  # the environment in which programs and profiles are read: it has XLA's own bindings

# What a measured process of each environment imports. A run imports it once, unmeasured, before the first such process.
IMPORTS = {
    "numpy": ("numpy",),
    "jax": ("jax", "optax"),
    "torch": ("torch",),
    "torch_xla": ("torch_xla",),
    "torchax": ("torchax",),
    "torch_tpu": ("torch_tpu",),
    "tensorflow": ("tensorflow",),
    "onnxruntime": ("torch", "onnxscript", "onnxruntime"),
    "numba": ("numba", "scipy"),
    "openvino": ("torch", "openvino"),
    "iree": ("jax", "optax", "iree.runtime"),
}

OF_OPTIMIZERS = "optax"  # which only steps with an optimizer need
SUFFIX = "_adapter"  # an adapter's file is called <stack>_adapter.py


def without_requested(environments: Iterable[str]) -> list[str]:
    """Returns these environments without those whose stacks all run on request alone."""
    stacks = STACKS.values()
    requested = {stack.environment for stack in stacks if stack.on_request}
    return [
        name for name in environments if name not in requested - {s.environment for s in stacks if not s.on_request}
    ]


def environment_of(stack: str, variant: str) -> str:
    """Returns the name of the environment that runs a stack, or a variant of it: `jax`, `jax@nightly`."""
    environment = STACKS[stack].environment
    # The orchestrator's environment has no variants: the adapter of a stack in it reads the variant itself.
    return environment if not variant or environment == "orchestrator" else f"{environment}@{variant}"


def adapter_class(stack: str, implementation: str = "") -> Any:
    """Returns the adapter of a stack; for a question's function another one, where that runs otherwise than a model.
    Its module imports no framework; constructing it does."""
    file = STACKS[stack].file
    module = f"suite.stacks.{STACKS[stack].environment}.{stack}{SUFFIX}"
    adapters = importlib.import_module(module) if file is None else load_module(file)
    return getattr(adapters, "FunctionAdapter", adapters.Adapter) if implementation else adapters.Adapter


def add(paths: Iterable[Path]) -> None:
    """Adds stacks to the catalogue of this process. Each path is an adapter's file, or a folder of such files. Adding a
    file again changes nothing.

    Raises UserError for a path without an adapter's file, a file that is no adapter, and a name that another stack has.
    """
    for path in paths:
        files = [path] if path.is_file() else sorted(path.glob(f"*{SUFFIX}.py"))
        if not files:
            raise UserError(f"--stack-path {path}: no file there is called <stack>{SUFFIX}.py.")
        for stack in map(load, files):
            known = STACKS.get(stack.name)
            if known is not None and known.file != stack.file:
                where = known.file or "this program's own"
                raise UserError(f"Two stacks are called '{stack.name}': {where} and {stack.file}.")
            STACKS[stack.name] = stack


def load(file: Path) -> Stack:
    """Returns the row in an adapter's file outside the repository. Raises UserError if the file is no adapter."""
    try:
        module = load_module(file.resolve())
    except Exception as broken:
        raise UserError(f"{file} can't be loaded: {type(broken).__name__}: {broken}") from broken
    stack = getattr(module, "STACK", None)
    if not isinstance(stack, Stack) or not hasattr(module, "Adapter"):
        raise UserError(f"{file} lacks STACK, a suite.stacks.catalog.Stack, or Adapter. See docs/how-to/stack.md.")
    if f"{stack.name}{SUFFIX}" != file.stem or not NAME.fullmatch(stack.name):
        raise UserError(
            f"{file} has the stack '{stack.name}'. A stack's name has letters, digits and _.+- only, and "
            f"its file is called <stack>{SUFFIX}.py."
        )
    return replace(stack, file=file.resolve())
