"""The catalogue: a row a stack. Standard library only; the adapters are loaded by name in the worker."""

from __future__ import annotations

import importlib
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Limit:
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
    compiler: str = ""  # whose programs can be read: XLA's, or Inductor's generated code
    compile_cache: bool = False  # keeps compiled code on disk for the next process
    needs: tuple[str, ...] = ()  # programs that must be on the machine
    estimate_seconds: float = 6.0  # start-up and compile of one small case on 2 cores, for --dry-run
    base_bytes: int = 0  # that it takes on a CPU before anything is placed, about; anonymous memory, as limits count it
    limits: tuple[Limit, ...] = field(default=())

    @property
    def compiled(self) -> bool:
        """Whether a compiler sees the whole step."""
        return self.eager is not None


MIB = 2**20

# Of the tuned track. tests/stacks/test_knobs_act.py shows that it is so, and that it is so of nothing else it runs.
LONE_PRODUCT = Limit("XLA calls a library for a lone product: its only knob, the width of vectors, is for loops",
                     {"track": "tuned", "target": "cpu", "workload": "gemm", "pass": "forward"})  # fmt: skip

STACKS: dict[str, Stack] = {
    stack.name: stack
    for stack in (
        Stack("numpy", "NumPy", "numpy", "numpy", targets=("cpu",), precisions=("f32",),
              estimate_seconds=1.5, base_bytes=18 * MIB),
        Stack("jax_eager", "JAX, op by op", "jax", "jax", estimate_seconds=4.0,
              base_bytes=26 * MIB),
        Stack("jax_jit", "JAX, jit", "jax", "jax", eager="jax_eager", compile_cache=True, compiler="XLA",
              estimate_seconds=4.0, base_bytes=26 * MIB, limits=(LONE_PRODUCT,)),
        Stack("torch_eager", "PyTorch, eager", "torch", "torch", targets=("cpu", "cuda"), estimate_seconds=6.0,
              base_bytes=130 * MIB),
        # On cuda the compiler is for Triton's launcher, in C: a C++ compiler brings that one too.
        Stack("torch_inductor", "PyTorch, torch.compile", "torch", "torch", eager="torch_eager",
              targets=("cpu", "cuda"), compile_cache=True, needs=("C++ compiler",), compiler="Inductor",
              estimate_seconds=30.0, base_bytes=170 * MIB),
        # No cuda: since 2.8 PyTorch/XLA has given CUDA up, and 2.9 has neither wheels nor a plugin for it.
        Stack("torch_xla", "PyTorch/XLA", "torch", "torch_xla", eager="torch_eager", targets=("cpu", "tpu"),
              compiler="XLA", estimate_seconds=9.0, base_bytes=340 * MIB, limits=(LONE_PRODUCT,)),
        Stack("torchax_jit", "torchax, jit", "torch", "torchax", eager="torch_eager", compile_cache=True,
              compiler="XLA", estimate_seconds=7.0, base_bytes=400 * MIB, limits=(LONE_PRODUCT,)),
        Stack("tf_eager", "TensorFlow, eager", "tf", "tensorflow", estimate_seconds=8.0,
              base_bytes=240 * MIB),
        Stack("tf_graph", "TensorFlow, tf.function", "tf", "tensorflow", eager="tf_eager", estimate_seconds=8.0,
              base_bytes=240 * MIB),
        Stack("tf_xla", "TensorFlow, XLA", "tf", "tensorflow", eager="tf_eager", compiler="XLA",
              estimate_seconds=8.0, base_bytes=240 * MIB, limits=(LONE_PRODUCT,)),
        Stack("fake", "a system that does as told (tests)", "fake", "orchestrator", targets=("cpu",),
              precisions=("f32", "bf16"), compile_cache=True, compiler="the story", estimate_seconds=0.5),
    )
}  # fmt: skip

# What a measured process of each environment imports; imported once, unmeasured, before the first one.
IMPORTS = {
    "numpy": ("numpy",),
    "jax": ("jax", "optax"),
    "torch": ("torch",),
    "torch_xla": ("torch_xla",),
    "torchax": ("torchax",),
    "tensorflow": ("tensorflow",),
}

REAL_STACKS = tuple(name for name in STACKS if name != "fake")


def environment_of(stack: str, variant: str) -> str:
    """The name of the environment that runs a stack, or a variant of it: `jax`, `jax@nightly`."""
    environment = STACKS[stack].environment
    plain = not variant or environment == "orchestrator"  # the fake stack's variants are scenes, not locks
    return environment if plain else f"{environment}@{variant}"


def adapter_class(stack: str) -> Any:
    """The adapter of a stack. Its module imports no framework; constructing it does."""
    return importlib.import_module(f"suite.stacks.{STACKS[stack].environment}.{stack}_adapter").Adapter
