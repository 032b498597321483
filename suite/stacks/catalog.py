"""The catalogue: a row a stack. Standard library only; the adapters are loaded by name in the worker.

`add` takes stacks from outside the repository into the catalogue of this process: a file `<stack>_adapter.py` with the
adapter and, as `STACK`, its row. docs/adding-a-stack.md has one.
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
    """What a stack can't do: `reason` holds for every case whose fields equal `match`."""

    reason: str
    match: dict[str, str]


@dataclass(frozen=True, slots=True)
class Stack:
    """How a dialect's code is executed, in which environment, and what it can't do."""

    name: str
    title: str
    dialect: str
    environment: str
    eager: str | None = None  # the stack that runs the same code uncompiled, for eager-against-compiled
    targets: tuple[str, ...] = ("cpu", "cuda", "tpu")
    precisions: tuple[str, ...] = ("f32", "tf32", "bf16")  # tf32 on cuda alone
    mixed_precision: str = ""  # what of a bf16 step is in bfloat16, in one word, which becomes part of a case's name
    compiler: str = ""  # whose programs can be read: XLA's, or Inductor's generated code
    on_shapes: bool = False  # runs a step on shapes alone, in which its allocations can be followed
    compile_cache: bool = False  # keeps compiled code on disk for the next process
    needs: tuple[str, ...] = ()  # programs that must be on the machine
    estimate_seconds: float = 6.0  # start-up and compile of one small case on 2 cores, for --dry-run
    base_bytes: int = 0  # that it takes on a CPU before anything is placed, about; anonymous memory, as limits count it
    exclusions: tuple[Exclusion, ...] = field(default=())
    file: Path | None = None  # the adapter's, of a stack from outside the repository

    @property
    def compiled(self) -> bool:
        """Whether a compiler sees the whole step."""
        return self.eager is not None

    @property
    def predicted_on(self) -> tuple[str, ...]:
        """Returns the targets for which its steps are predicted without them."""
        if self.compiler == "XLA":
            return tuple(target for target in self.targets if target != "cpu")
        return ("cuda",) if self.on_shapes else ()


MIB = 2**20
# The frameworks' mixed precisions. JAX casts parameters and inputs, and so all that follows; PyTorch's autocast has
# lists of operations; TensorFlow casts the operands of products.
PARAMETERS, AUTOCAST, PRODUCTS = "parameters", "autocast", "products"

# Of the tuned track. tests/stacks/test_knobs_act.py shows that it is so, and that it is so of nothing else it runs.
LONE_PRODUCT = Exclusion("XLA calls a library for a lone product: its only knob, the width of vectors, is for loops",
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
        # On cuda the compiler is for Triton's launcher, in C: a C++ compiler brings that one too.
        Stack("torch_inductor", "PyTorch, torch.compile", "torch", "torch", eager="torch_eager",
              targets=("cpu", "cuda"), mixed_precision=AUTOCAST, compile_cache=True,
              needs=("C++ compiler",), compiler="Inductor", estimate_seconds=30.0, base_bytes=170 * MIB),
        # No cuda: since 2.8 PyTorch/XLA has given CUDA up, and 2.9 has neither wheels nor a plugin for it.
        Stack("torch_xla", "PyTorch/XLA", "torch", "torch_xla", eager="torch_eager", targets=("cpu", "tpu"),
              mixed_precision=AUTOCAST, compiler="XLA", estimate_seconds=9.0, base_bytes=340 * MIB,
              exclusions=(LONE_PRODUCT,)),
        Stack("torchax_jit", "torchax, jit", "torch", "torchax", eager="torch_eager",
              mixed_precision=AUTOCAST, compile_cache=True, compiler="XLA", estimate_seconds=7.0,
              base_bytes=400 * MIB, exclusions=(LONE_PRODUCT,)),
        Stack("tf_eager", "TensorFlow, eager", "tf", "tensorflow", mixed_precision=PRODUCTS, estimate_seconds=8.0,
              base_bytes=240 * MIB),
        Stack("tf_graph", "TensorFlow, tf.function", "tf", "tensorflow", eager="tf_eager",
              mixed_precision=PRODUCTS, estimate_seconds=8.0, base_bytes=240 * MIB),
        Stack("tf_xla", "TensorFlow, XLA", "tf", "tensorflow", eager="tf_eager",
              mixed_precision=PRODUCTS, compiler="XLA", estimate_seconds=8.0, base_bytes=240 * MIB,
              exclusions=(LONE_PRODUCT,)),
    )
}  # fmt: skip

BASELINE = "torch_eager"  # of a preset that names none
READER = "jax_jit"  # in whose environment programs and profiles are read: it has XLA's own bindings

# What a measured process of each environment imports; imported once, unmeasured, before the first one.
IMPORTS = {
    "numpy": ("numpy",),
    "jax": ("jax", "optax"),
    "torch": ("torch",),
    "torch_xla": ("torch_xla",),
    "torchax": ("torchax",),
    "tensorflow": ("tensorflow",),
}

SUFFIX = "_adapter"  # of an adapter's file, behind the stack's name


def environment_of(stack: str, variant: str) -> str:
    """Returns the name of the environment that runs a stack, or a variant of it: `jax`, `jax@nightly`."""
    environment = STACKS[stack].environment
    # The program's own environment has no variants: there the word is the adapter's to read.
    return environment if not variant or environment == "orchestrator" else f"{environment}@{variant}"


def adapter_class(stack: str) -> Any:
    """Returns the adapter of a stack. Its module imports no framework; constructing it does."""
    file = STACKS[stack].file
    if file is not None:
        return load_module(file).Adapter
    return importlib.import_module(f"suite.stacks.{STACKS[stack].environment}.{stack}{SUFFIX}").Adapter


def add(paths: Iterable[Path]) -> None:
    """Adds stacks to the catalogue of this process. Each path is an adapter's file, or a folder of them; one that was
    added before changes nothing.

    Raises UserError for a path without an adapter, a file that isn't one, and a name that another stack has.
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
    """Returns the row that an adapter's file outside the repository has. Raises UserError if it is none."""
    try:
        module = load_module(file.resolve())
    except Exception as broken:
        raise UserError(f"{file} can't be loaded: {type(broken).__name__}: {broken}") from broken
    stack = getattr(module, "STACK", None)
    if not isinstance(stack, Stack) or not hasattr(module, "Adapter"):
        raise UserError(f"{file} lacks STACK, a suite.stacks.catalog.Stack, or Adapter. See docs/adding-a-stack.md.")
    if f"{stack.name}{SUFFIX}" != file.stem or not NAME.fullmatch(stack.name):
        raise UserError(f"{file} has the stack '{stack.name}': its file is called <stack>{SUFFIX}.py.")
    return replace(stack, file=file.resolve())
