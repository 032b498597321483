"""The common code of all stacks that compute with JAX: environment variables, devices, optimizer and counters.

The frameworks come in as arguments: only an adapter's own module imports them.
"""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from suite import protocol
from suite.case import Case
from suite.ir import files
from suite.stacks import base
from suite.stacks.xla import compiler
from suite.workloads.catalog import Workload
from suite.workloads.tensors import Tensor

PRODUCTS = {"f32": "highest", "tf32": "tensorfloat32", "bf16": "bfloat16"}


class CompileCounter:
    """Counts traces, compiles and their seconds (trace, lower and backend) by JAX's own monitoring events."""

    def __init__(self, jax: Any) -> None:
        self.traces = 0
        self.compiles = 0
        self.seconds = 0.0
        jax.monitoring.register_event_duration_secs_listener(self.count)

    def count(self, event: str, seconds: float, **_: object) -> None:
        if event.startswith("/jax/core/compile/"):
            self.seconds += seconds
            self.traces += event.endswith("jaxpr_trace_duration")
            self.compiles += event.endswith("backend_compile_duration")


def make_optimizer(optax: Any, name: str | None) -> Any:
    if name == "sgd":
        return optax.sgd(protocol.LEARNING_RATE, momentum=protocol.MOMENTUM)
    return optax.adamw(
        protocol.LEARNING_RATE,
        b1=protocol.BETA1,
        b2=protocol.BETA2,
        eps=protocol.EPSILON,
        weight_decay=protocol.WEIGHT_DECAY,
    )


def conjugate(gradient: Any) -> Any:
    """Returns a gradient as the other frameworks define it: JAX's, of a real function of complex numbers, is the
    conjugate of theirs."""
    return gradient.conj() if gradient.dtype.kind == "c" else gradient


class Loop:
    """The forward pass of a dialect whose loop is Python: of many calls of `token`, which is compiled. Like a compiled
    function it can be traced: as one call."""

    def __init__(self, jax: Any, dialect: Any, dims: Mapping[str, int], token: Any) -> None:
        self.jax, self.loop, self.token = jax, dialect.loop, token
        self.start = partial(dialect.start, dims)

    def __call__(self, parameters: Any, buffers: Any, inputs: Mapping[str, Any]) -> Any:
        return self.loop(partial(self.token, parameters), self.start(), **inputs)

    def trace(self, parameters: Any, buffers: Any, inputs: Mapping[str, Any]) -> Any:
        return self.token.trace(parameters, self.jax.eval_shape(self.start), *inputs.values())

    def lower(self, *arguments: Any) -> Any:
        return self.trace(*arguments).lower()


class JaxAdapter(compiler.Dumping):
    """An adapter whose arrays are JAX's. Subclasses say how the dialect's code becomes a step."""

    # The bases of those that tracing raises: a branch, a shape by values.
    untraceable = ("JAXTypeError", "JAXIndexError")

    def __init__(self, case: Case, workload: Workload, jax: Any, optax: Any) -> None:
        super().__init__(case, workload)
        self.jax, self.optax = jax, optax
        # The environment variable says the same, but not for an adapter that `adapter_in` makes.
        jax.config.update("jax_default_matmul_precision", PRODUCTS[case.precision])
        jax.config.update("jax_enable_x64", self.has_wide_types)  # as a user of 64-bit types sets it
        if case.implementation:  # else a function that asks for float64 does half the work of the others
            warnings.filterwarnings("error", "Explicitly requested dtype (float64|complex128)", UserWarning)
        self.transform: Any = make_optimizer(optax, self.optimizer) if optax else None
        self.compile_counter = CompileCounter(jax)

    @classmethod
    def environ(cls, case: Case, cache_directory: str) -> dict[str, str]:
        variables = super().environ(case, cache_directory) | {
            "JAX_PLATFORMS": case.target,
            "JAX_ENABLE_X64": "0",
            # For float32 products and convolutions. JAX's default is TF32 on GPUs and bfloat16 on TPUs.
            "JAX_DEFAULT_MATMUL_PRECISION": PRODUCTS[case.precision],
        }
        if case.target == "cuda":
            variables |= {
                "XLA_PYTHON_CLIENT_PREALLOCATE": "false",  # else peak memory is the pool's size
                "XLA_CLIENT_MEM_FRACTION": "1.0",  # else, without preallocation, a quarter of the device stays unused
            }
        if case.cache == "warm":  # without this directory JAX keeps no cache
            variables |= {
                "JAX_COMPILATION_CACHE_DIR": f"{cache_directory}/jax",
                # Keeps every program; by default JAX skips those that compile in under a second.
                "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1",
            }
        return variables

    def profile(self, steps: Callable[[], None], folder: Path) -> base.Trace:
        options = self.jax.profiler.ProfileOptions()
        options.python_tracer_level = 0  # Python's own calls cost most and say least
        with self.jax.profiler.trace(str(folder), profiler_options=options):
            steps()
        return base.Trace("jax.profiler")

    def find_devices(self) -> Any:
        """Returns the target's devices, as JAX lists them. Raises `no_device` if there are none."""
        try:
            devices = self.jax.devices()
        except RuntimeError as missing:
            raise self.no_device(missing) from missing
        except AssertionError as missing:  # JAX raises it, without a message, where no NVIDIA GPU is visible
            raise self.no_device("JAX sees no NVIDIA GPU") from missing
        if self.case.target == "cuda":
            self.require_tf32([int(number) for number in devices[0].compute_capability.split(".")])
        return devices

    def compile(self, function: Any, **options: Any) -> Any:
        return function

    def moments(self, state: Any) -> dict[str, Any]:
        """Returns optax's moments in the optimizer's state, by the letters `m` and `v` of `base.Adapter.read`."""
        return {"v": state[0].trace} if self.optimizer == "sgd" else {"m": state[0].mu, "v": state[0].nu}

    def apply(self, parameters: Any, moments: Any, gradients: Any) -> tuple[Any, Any]:
        updates, moments = self.transform.update(gradients, moments, parameters)
        return self.optax.apply_updates(parameters, updates), moments

    def update(self, parameters: base.Tensors, gradients: Any) -> dict[str, Any]:
        updated = self.jax.device_put(dict(parameters))
        moments = self.transform.init(updated)
        apply = self.compile(self.apply)
        for injected in gradients:
            updated, moments = apply(updated, moments, self.jax.device_put(dict(injected)))
        return {name: np.asarray(value) for name, value in updated.items()}

    def counters(self) -> dict[str, float | None]:
        """Returns JAX's counts. In JAX a step can't break a graph, and no other backend can run an operation."""
        counter = self.compile_counter
        counted = {"traces": counter.traces, "compiles": counter.compiles, "compile_seconds": counter.seconds}
        return super().counters() | counted

    def put(self, value: Any) -> Any:
        return self.jax.device_put(value)

    def put_named(self, name: str, value: Any) -> Any:
        return self.jax.device_put(value.astype(self.jax.numpy.bfloat16) if self.types[name] == "bfloat16" else value)

    def memory(self) -> dict[str, int | None]:
        figures = dict(self.jax.local_devices()[0].memory_stats() or {})
        if self.case.target == "tpu" and "peak_bytes_in_use" in figures:
            # There a program's temporaries are reserved beside the heap (EnzymeAD/Enzyme-JAX#2422): at most the sum.
            figures["peak_bytes_in_use"] += figures.get("peak_bytes_reserved", 0)
        names = ("peak_bytes_in_use", "peak_pool_bytes", "bytes_limit")
        return dict(zip(base.DEVICE_FIGURES, map(figures.get, names), strict=True))

    def shapes(self, tree: Any) -> Any:
        return self.jax.tree.map(lambda x: self.jax.ShapeDtypeStruct(x.shape, x.dtype), tree)

    def shapes_of(self, tensors: Mapping[str, Tensor]) -> dict[str, Any]:
        return {name: self.jax.ShapeDtypeStruct(tensor.shape, tensor.dtype) for name, tensor in tensors.items()}


class OneProgram(JaxAdapter):
    """An adapter whose step is one jitted function, `program`, of `arguments`, or many calls of it. Their shapes are
    enough to compile it again."""

    program: Any

    @abstractmethod
    def arguments(self, state: Any, batch: Any) -> tuple[Any, ...]:
        """Returns the program's arguments as JAX arrays."""

    def traced(self, state: Any, batch: Any) -> Any:
        return self.program.trace(*self.shapes(self.arguments(state, batch)))

    def lowered(self, state: Any, batch: Any) -> dict[str, str]:
        traced = self.traced(state, batch)
        return {files.LOWERED: traced.lower().as_text(), files.JAXPR: str(traced.jaxpr)}

    def program_flops(self, state: Any, batch: Any) -> int | None:
        lowered = self.traced(state, batch).lower()
        if "stablehlo.fft" in lowered.as_text():
            return None  # of a transform of n numbers XLA counts 8 n log2(n), also where a third of that is enough
        cost = lowered.compile().cost_analysis() or {}
        flops = cost.get("flops", -1.0)
        return int(flops) if flops >= 0 else None  # -1 where XLA can't tell

    def program_memory(self, state: Any, batch: Any) -> dict[str, int | None]:
        analysis = self.traced(state, batch).lower().compile().memory_analysis()
        names = ("argument", "output", "temp", "alias")
        sizes = (getattr(analysis, f"{name}_size_in_bytes") for name in names)
        return dict(zip(base.PROGRAM_FIGURES, sizes, strict=True))
