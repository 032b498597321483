"""What every stack that computes with JAX shares: its variables, devices, optimizer and counters.

The frameworks come in as arguments: only an adapter's own module imports them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from suite import protocol
from suite.case import Case
from suite.ir import files
from suite.stacks import base, kernels
from suite.stacks.catalog import STACKS
from suite.stacks.xla import compiler
from suite.workloads.catalog import Workload
from suite.workloads.tensors import Integers, Tensor

PRODUCTS = {"f32": "highest", "tf32": "tensorfloat32", "bf16": "bfloat16"}


class CompileCounter:
    """Traces, compiles and their seconds (trace, lower and backend) from JAX's own monitoring events."""

    def __init__(self, jax: Any) -> None:
        self.traces = 0
        self.compiles = 0
        self.seconds = 0.0
        jax.monitoring.register_event_duration_secs_listener(self.count)

    def count(self, event: str, seconds: float, **_: object) -> None:
        """One event, as JAX reports it."""
        if event.startswith("/jax/core/compile/"):
            self.seconds += seconds
            self.traces += event.endswith("jaxpr_trace_duration")
            self.compiles += event.endswith("backend_compile_duration")


def make_optimizer(optax: Any, name: str | None) -> Any:
    """optax's optimizer with the protocol's constants."""
    if name == "sgd":
        return optax.sgd(protocol.LEARNING_RATE, momentum=protocol.MOMENTUM)
    return optax.adamw(
        protocol.LEARNING_RATE,
        b1=protocol.BETA1,
        b2=protocol.BETA2,
        eps=protocol.EPSILON,
        weight_decay=protocol.WEIGHT_DECAY,
    )


class JaxAdapter(compiler.Dumping):
    """An adapter whose arrays are JAX's. What it leaves out is how the dialect's code becomes a step."""

    def __init__(self, case: Case, workload: Workload, jax: Any, optax: Any) -> None:
        super().__init__(case, workload)
        self.jax, self.optax = jax, optax
        # As the variable says, for a process that goes on in another precision, see `twin`.
        jax.config.update("jax_default_matmul_precision", PRODUCTS[case.precision])
        self.transform = make_optimizer(optax, self.optimizer)
        self.compile_counter = CompileCounter(jax)

    @classmethod
    def environ(cls, case: Case, cache_directory: str) -> dict[str, str]:
        """JAX's variables, and those that every stack has."""
        variables = super().environ(case, cache_directory) | {
            "JAX_PLATFORMS": case.target,
            "JAX_ENABLE_X64": "0",
            # Of products of float32, convolutions too. JAX's default is TF32 on GPUs and bfloat16 on TPUs.
            "JAX_DEFAULT_MATMUL_PRECISION": PRODUCTS[case.precision],
        }
        if case.target == "cuda":
            variables["XLA_PYTHON_CLIENT_PREALLOCATE"] = "false"  # else peak memory is the pool's size
        if case.cache == "warm":  # without a directory JAX keeps no cache
            variables |= {
                "JAX_COMPILATION_CACHE_DIR": f"{cache_directory}/jax",
                # Everything is kept: JAX's defaults skip what compiled in under a second.
                "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
            }
        return variables

    def kernels_used(self, told: kernels.Told) -> list[kernels.Used]:
        """By XLA's programs, then by the log of what its runtime calls."""
        one_program = STACKS[self.case.stack].compiled  # op by op each operation is one
        return compiler.kernels_used(told, one_program) + kernels.libraries(told)

    def profile(self, steps: Callable[[], None], folder: Path) -> base.Traced:
        """See `base.Adapter.profile`."""
        options = self.jax.profiler.ProfileOptions()
        options.python_tracer_level = 0  # Python's own calls cost most and say least
        with self.jax.profiler.trace(str(folder), profiler_options=options):
            steps()
        return base.Traced("jax.profiler")

    def find_devices(self) -> Any:
        """The target's devices, as JAX lists them. Raises `no_device` where there are none."""
        try:
            devices = self.jax.devices()
        except RuntimeError as missing:
            raise self.no_device(missing) from missing
        except AssertionError as missing:  # all that JAX says where no NVIDIA GPU is visible
            raise self.no_device("JAX sees no NVIDIA GPU") from missing
        if self.case.target == "cuda":
            self.require_tf32([int(number) for number in devices[0].compute_capability.split(".")])
        return devices

    def compile(self, function: Any) -> Any:
        """How this stack runs a function of JAX arrays: as it is, unless the stack says otherwise."""
        return function

    def apply(self, parameters: Any, moments: Any, gradients: Any) -> tuple[Any, Any]:
        """The optimizer's update of a pytree of parameters: (parameters, moments)."""
        updates, moments = self.transform.update(gradients, moments, parameters)
        return self.optax.apply_updates(parameters, updates), moments

    def update(self, parameters: base.Tensors, gradients: Any) -> dict[str, Any]:
        """See `base.Adapter.update`."""
        updated = self.jax.device_put(dict(parameters))
        moments = self.transform.init(updated)
        apply = self.compile(self.apply)
        for injected in gradients:
            updated, moments = apply(updated, moments, self.jax.device_put(dict(injected)))
        return {name: np.asarray(value) for name, value in updated.items()}

    def counters(self) -> dict[str, float | None]:
        """JAX counts compiles; its step has no graph to break and nothing to fall back to."""
        counter = self.compile_counter
        counted = {"traces": counter.traces, "compiles": counter.compiles, "compile_seconds": counter.seconds}
        return super().counters() | counted

    def put(self, value: Any) -> Any:
        """See `base.Adapter.put`."""
        return self.jax.device_put(value)

    def memory(self) -> dict[str, int | None]:
        """Of the allocator of the first device; a CPU has none."""
        figures = self.jax.local_devices()[0].memory_stats() or {}
        names = ("peak_bytes_in_use", "peak_pool_bytes", "bytes_limit")
        return dict(zip(base.DEVICE_FIGURES, map(figures.get, names), strict=True))

    def shapes(self, tree: Any) -> Any:
        """A tree of arrays without values."""
        return self.jax.tree.map(lambda x: self.jax.ShapeDtypeStruct(x.shape, x.dtype), tree)

    def shapes_of(self, tensors: Mapping[str, Tensor]) -> dict[str, Any]:
        """The same of a spec's tensors."""
        return {
            name: self.jax.ShapeDtypeStruct(tensor.shape, "int32" if isinstance(tensor, Integers) else "float32")
            for name, tensor in tensors.items()
        }

    def lowering(self, program: Any, *arguments: Any) -> dict[str, str]:
        """See `base.Adapter.lowered`: of a jitted function, by the shapes of its arguments alone."""
        traced = program.trace(*self.shapes(arguments))
        return {files.LOWERED: traced.lower().as_text(), files.JAXPR: str(traced.jaxpr)}

    def analysed(self, program: Any, *arguments: Any) -> dict[str, int | None]:
        """See `base.Adapter.program_memory`: of a jitted function, by the shapes of its arguments alone."""
        found = program.lower(*self.shapes(arguments)).compile().memory_analysis()
        names = ("argument", "output", "temp", "alias")
        sizes = (getattr(found, f"{name}_size_in_bytes") for name in names)
        return dict(zip(base.PROGRAM_FIGURES, sizes, strict=True))
