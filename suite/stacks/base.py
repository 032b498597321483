"""What the worker asks of a stack. docs/adding-a-stack.md walks through one.

The adapter of a stack is the class `Adapter` in `<stack>_adapter.py`. Constructing it imports the
framework (the import phase), so the module itself imports on any machine. Warm-up, clocks, the stop
rule, copies and outcome words belong to the worker; an adapter has none of them.
"""

from __future__ import annotations

import gc
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suite.case import Case
from suite.ir.timeline import Span
from suite.stacks import kernels
from suite.stacks.catalog import STACKS
from suite.stacks.holders import Holders
from suite.stacks.knobs import Knob, chosen
from suite.stacks.threads import cuda_environ, thread_environ
from suite.workloads.catalog import Workload
from suite.workloads.tensors import Tensor, buffers_of

Named = Iterable[tuple[str, NDArray[Any]]]  # float32, or int32 for token ids and labels
Tensors = Mapping[str, NDArray[np.float32]]
State = Any  # parameters and optimizer state, in the framework's own types
Batch = Any
TF32_CAPABILITY = (8, 0)  # Ampere
DEVICE_FIGURES = ("device_peak_bytes", "device_reserved_bytes", "device_total_bytes")
PROGRAM_FIGURES = ("program_argument_bytes", "program_output_bytes", "program_temporary_bytes", "program_aliased_bytes")
REASON_MAX = 300  # characters of a framework's own words: some print their whole graph


class Unsupported(Exception):
    """This stack can't do what the case asks, by design; the text is the reason in the report."""


@dataclass(frozen=True, slots=True)
class Trace:
    """The trace of some profiled steps: the profiler that made it, and the operations with their categories. `spans` is
    None for a trace in XLA's format, which the profiler has left in its folder (`suite.ir.attribute` reads it)."""

    told_by: str
    spans: list[Span] | None = None


class Adapter(ABC):
    """One stack, ready to run one case.

    `state` is the parameters with, in the train pass, the optimizer's state; it is opaque to the worker and
    chained from step to step. Canonical layout: weights are (inputs, outputs), names are dotted paths.
    """

    knobs: ClassVar[tuple[Knob, ...]] = ()  # of the tuned track; a stack with none isn't run there
    packages: ClassVar[tuple[str, ...]] = ("numpy",)  # whose versions the row records

    def __init__(self, case: Case, workload: Workload) -> None:
        self.case = case
        self.workload = workload
        self.dims = dict(case.dims)
        self.train = case.pass_ == "train"
        self.optimizer: str | None = getattr(workload.spec, "OPTIMIZER", None)  # "adamw", "sgd", or none
        self.tuned = chosen(self.knobs, case, workload)
        if case.track == "tuned" and not self.tuned:  # or the default would pass as tuned
            raise Unsupported(f"no tuned setting changes {case.workload} on this {case.target}")
        self.buffers = frozenset(buffers_of(workload.spec, self.dims))

    @classmethod
    def environ(cls, case: Case, cache_directory: str) -> dict[str, str]:
        """Returns the environment variables to set before the framework is imported. Pure; a stack adds its own to
        those of `super()`.

        `cache_directory` is for compile caches: this process's own and empty in a cold case, filled by an
        earlier process of the same block in a warm one.
        """
        return thread_environ(case.threads) | cuda_environ(case.target)

    @classmethod
    def explain_environ(cls, case: Case, cache_directory: str) -> dict[str, str]:
        """Returns `environ` for a process that is never timed: its libraries log which kernels they run."""
        return cls.environ(case, cache_directory) | kernels.VERBOSE

    @classmethod
    def profile_environ(cls, case: Case, cache_directory: str) -> dict[str, str]:
        """Returns `environ` for a process whose steps are profiled."""
        return cls.environ(case, cache_directory)

    @classmethod
    def ir_environ(cls, case: Case, cache_directory: str) -> dict[str, str]:
        """Returns `environ` for a process that is never timed: its compiler leaves the programs that it gets in the
        folder of caches."""
        return cls.environ(case, cache_directory)

    @abstractmethod
    def device(self) -> dict[str, Any]:
        """Starts the runtime and claims the device. Returns facts: its name, threads as the framework sees them.

        Raises `no_device` if the target's hardware isn't there.
        """

    def no_device(self, words: BaseException | str) -> Unsupported:
        """Returns the exception for a machine without the target's hardware, with the framework's own words."""
        if isinstance(words, BaseException):
            words = f"{type(words).__name__}: {words}"
        return Unsupported(f"no {self.case.target} device was found: {' '.join(words.split())[:REASON_MAX]}")

    def require_tf32(self, capability: Sequence[int]) -> None:
        """Raises Unsupported if the case asks for tf32 and an NVIDIA GPU of this compute capability lacks it."""
        if self.case.precision == "tf32" and tuple(capability) < TF32_CAPABILITY:
            raise Unsupported(
                f"tf32 needs an NVIDIA GPU of compute capability {version(TF32_CAPABILITY)} or newer; "
                f"this one has {version(capability)}"
            )

    @abstractmethod
    def matmul(self, a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
        """Returns the product a b, computed on the device as the step is: by its settings and precision, compiled if it
        is compiled.

        It serves the probe that finds out in which arithmetic the stack really computes. Called after `device`.
        """

    def twin(self, precision: str) -> Adapter:
        """Returns an adapter of this stack and workload in another precision, built, in this process. This adapter
        can't be used afterwards: two models at once may need more memory than the machine has."""
        kind, case, workload = type(self), replace(self.case, precision=precision), self.workload
        vars(self).clear()
        gc.collect()
        other = kind(case, workload)
        other.device()
        other.build()
        return other

    @abstractmethod
    def build(self, abstract: bool = False) -> None:
        """Makes the step, ready to call. `abstract`: for shapes only, nothing is allocated. Nothing is compiled yet."""

    @abstractmethod
    def place(self, parameters: Named, batch: Named, moments: bool = True) -> tuple[State, Batch]:
        """Puts parameters, fresh optimizer state and inputs on the device, tensor by tensor, and waits until they are
        there. Returns (state, batch).

        `parameters` ends with the workload's buffers, if it has any: state without a gradient. Without `moments` the
        state is for `read` alone, and the adapter keeps no memory for moments: the gradients that `read` returns are as
        large as a moment.
        """

    @abstractmethod
    def step(self, state: State, batch: Batch) -> tuple[State, Any]:
        """Submits one step. Returns (state, outputs); outputs are the result in the forward pass, the loss in the train
        pass, and (loss, gradients) without an optimizer."""

    @abstractmethod
    def wait(self, state: State, outputs: Any) -> None:
        """Returns when state and outputs are computed."""

    @abstractmethod
    def fetch(self, outputs: Any) -> NDArray[np.float32]:
        """Returns the result (loss or output) in host memory: a writable array that shares memory with no other."""

    @abstractmethod
    def read(self, what: str, state: State, batch: Batch) -> dict[str, NDArray[np.float32]]:
        """Returns tensors for the gate, in canonical names and layout. `what` is "parameters" (with the buffers), as
        they are in the state; "moments", each parameter's `m/<name>` and `v/<name>` of AdamW, `v/<name>` of momentum;
        "gradients", computed now, with "loss"; or "output", that of the forward pass. They are valid until the next
        call: on a CPU they may be aliases, because a copy of a model's gradients may not fit into memory."""

    def has_unstable_norm(self) -> bool:
        """Whether this stack computes this workload's norms by a kernel of its framework that takes the variance as
        E[x^2] - E[x]^2, as XLA's batch norm does. With stressed weights such a norm is wrong, and the row is flagged.
        Called after `build`."""
        return False

    @abstractmethod
    def update(self, parameters: Tensors, gradients: Sequence[Tensors]) -> dict[str, NDArray[np.float32]]:
        """Returns the parameters after the stack's own optimizer was applied to injected gradients, one entry a
        step."""

    def run(self, recorder: Any) -> None:
        """Runs a probe: the dialect's file tries this stack and gives the recorder what it observed. It uses `put`,
        `jit`, `wait`, `fetch`, the counters and the framework itself, no other method."""
        self.workload.dialect(STACKS[self.case.stack].dialect).run(self, recorder)

    def put(self, value: NDArray[Any]) -> Any:
        """Returns a host array on the device."""
        raise Unsupported("this stack has no arrays of its own")

    def jit(self, function: Callable[..., Any], static: Sequence[int] = ()) -> Callable[..., Any]:
        """Returns a function as a user of this stack has it run: compiled, if the stack compiles, with the framework's
        own defaults. The values of the arguments at the places `static` become part of the program."""
        return function

    def counters(self) -> dict[str, float | None]:
        """Returns the framework's own counts so far: `traces`, `compiles`, `compile_seconds`, `graph_breaks`,
        `fallback_ops`; None for what the framework doesn't count, 0 for what it counted none of."""
        names = ("traces", "compiles", "compile_seconds", "graph_breaks", "fallback_ops")
        return dict.fromkeys(names)

    def probe_counters(self) -> dict[str, float]:
        """Returns counts so far that only probes ask for, by the name of a figure; they replace those of `counters`."""
        return {}

    def listen(self, state: State, batch: Batch) -> tuple[State, Batch]:
        """Returns the state and batch of the steps whose calls are recorded; unchanged where libraries write logs."""
        return state, batch

    def kernels_used(self, logs: kernels.LibraryLogs) -> list[kernels.LibraryUse]:
        """Returns which libraries ran in the step that was listened to, on which instructions, the longest first."""
        return kernels.libraries(logs)

    def holders(self, logs: kernels.LibraryLogs, state: State, batch: Batch) -> Holders | None:
        """Returns what holds memory at a step's peak; None if that can't be known. May take one more step, the last."""
        return None

    def programs(self, caches: Path) -> Iterable[tuple[str, Path]]:
        """Returns (name, file) of what this process's compiler has left in a folder of caches; see `suite.ir.files`."""
        return ()

    def lowered(self, state: State, batch: Batch) -> dict[str, str]:
        """Returns the framework's own texts of the step that it compiled, by file name. Only the shapes of `state` and
        `batch` count."""
        return {}

    def compile_on_shapes(self, parameters: Mapping[str, Tensor], batch: Mapping[str, Tensor]) -> tuple[State, Batch]:
        """Compiles the step, built as abstract, for shapes without tensors. Returns the shapes as `lowered` takes
        them."""
        raise Unsupported("this stack compiles only what it runs")

    def planned_memory(self, caches: Path) -> dict[str, int]:
        """Returns what the step is planned to hold, as `program_memory` has it: by what its compiler has left in a
        folder of caches, or by the step on shapes. Empty where nobody plans it."""
        return {}

    def profile(self, steps: Callable[[], None], folder: Path) -> Trace | None:
        """Runs `steps`, which waits for what it submits, in the framework's profiler. Returns None if it has none."""
        return None

    def memory(self) -> dict[str, int | None]:
        """Returns the framework's own `device_peak_bytes`, `device_reserved_bytes` and `device_total_bytes`."""
        return dict.fromkeys(DEVICE_FIGURES)

    def program_memory(self, state: State, batch: Batch) -> dict[str, int | None]:
        """Returns the compiler's own figures of the step, if any: `program_argument_bytes`, and so on. May compile once
        more; `state` and `batch` are the last ones of the process."""
        return dict.fromkeys(PROGRAM_FIGURES)


def version(numbers: Iterable[int]) -> str:
    """Returns (8, 0) as `8.0`."""
    return ".".join(map(str, numbers))


def nested(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """Returns {"up.weight": w} as {"up": {"weight": w}}: the pytree that functional dialects take."""
    tree: dict[str, Any] = {}
    for path, value in tensors.items():
        *parents, leaf = path.split(".")
        node = tree
        for parent in parents:
            node = node.setdefault(parent, {})
        node[leaf] = value
    return tree


def flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Returns the tensors of a nested dict by their dotted paths: the inverse of `nested`."""
    tensors: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            tensors |= flat(value, f"{prefix}{name}.")
        else:
            tensors[f"{prefix}{name}"] = value
    return tensors
