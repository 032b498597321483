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
class Traced:
    """Who told what ran, and the operations with their categories; None where the trace lies in the folder, in XLA's
    format (`suite.ir.attribute` reads it)."""

    by: str
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
        """Environment variables to set before the framework is imported. Pure; a stack adds its own to `super()`'s.

        `cache_directory` is for compile caches: this process's own and empty in a cold case, filled by an
        earlier process of the same block in a warm one.
        """
        return thread_environ(case.threads) | cuda_environ(case.target)

    @classmethod
    def explain_environ(cls, case: Case, cache_directory: str) -> dict[str, str]:
        """`environ` for a process that is never timed: its libraries tell which kernels they run."""
        return cls.environ(case, cache_directory) | kernels.VERBOSE

    @classmethod
    def profile_environ(cls, case: Case, cache_directory: str) -> dict[str, str]:
        """`environ` for a process whose steps are profiled."""
        return cls.environ(case, cache_directory)

    @classmethod
    def ir_environ(cls, case: Case, cache_directory: str) -> dict[str, str]:
        """`environ` for a process that is never timed: its compiler leaves what it is handed, in the folder of
        caches."""
        return cls.environ(case, cache_directory)

    @abstractmethod
    def device(self) -> dict[str, Any]:
        """Start the runtime and claim the device; returns facts: its name, threads as the framework sees them.

        Raises `no_device` where the target's hardware isn't there.
        """

    def no_device(self, words: BaseException | str) -> Unsupported:
        """The answer of a machine without the target's hardware, in the framework's own words."""
        if isinstance(words, BaseException):
            words = f"{type(words).__name__}: {words}"
        return Unsupported(f"no {self.case.target} device was found: {' '.join(words.split())[:REASON_MAX]}")

    def require_tf32(self, capability: Sequence[int]) -> None:
        """Raises Unsupported where tf32 is asked of an NVIDIA GPU, of this compute capability, that hasn't got it."""
        if self.case.precision == "tf32" and tuple(capability) < TF32_CAPABILITY:
            raise Unsupported(
                f"tf32 needs an NVIDIA GPU of compute capability {version(TF32_CAPABILITY)} or newer; "
                f"this one has {version(capability)}"
            )

    @abstractmethod
    def matmul(self, a: NDArray[np.float32], b: NDArray[np.float32]) -> NDArray[np.float32]:
        """The product a b on the device, executed as the step is: its settings, its precision, compiled if it is.

        For the probe that finds out in which arithmetic the stack really computes. Called on a device claimed.
        """

    def twin(self, precision: str) -> Adapter:
        """This stack with this workload in another precision, built, in this process. This adapter is given up: two
        models at once may be more than the machine holds."""
        kind, case, workload = type(self), replace(self.case, precision=precision), self.workload
        vars(self).clear()
        gc.collect()
        other = kind(case, workload)
        other.device()
        other.build()
        return other

    @abstractmethod
    def build(self, abstract: bool = False) -> None:
        """Make the step, ready to call. Abstract: on shapes only, nothing allocated. Nothing is compiled yet."""

    @abstractmethod
    def place(self, parameters: Named, batch: Named, moments: bool = True) -> tuple[State, Batch]:
        """Put parameters, fresh optimizer state and inputs on the device, tensor by tensor, and wait for it.

        `parameters` ends with the workload's buffers, if it has any: state that no gradient is taken of.
        Without `moments` the state has none, nor may the adapter keep memory for them: it is for `read` alone, whose
        gradients are as large as a moment.
        """

    @abstractmethod
    def step(self, state: State, batch: Batch) -> tuple[State, Any]:
        """Submit one step. Outputs: forward the result; train the loss; without an optimizer (loss, gradients)."""

    @abstractmethod
    def wait(self, state: State, outputs: Any) -> None:
        """Return once all of it is computed."""

    @abstractmethod
    def fetch(self, outputs: Any) -> NDArray[np.float32]:
        """The result (the loss, or the output) in host memory: an array of its own, writable, no alias."""

    @abstractmethod
    def read(self, what: str, state: State, batch: Batch) -> dict[str, NDArray[np.float32]]:
        """For the gate, canonical names and layout: "parameters" (and buffers) now in the state; fresh "gradients" with
        "loss"; the forward pass's "output". Valid until the next call: an alias where the device's memory is the
        host's, because a copy of a model's gradients may be what doesn't fit."""

    @abstractmethod
    def update(self, parameters: Tensors, gradients: Sequence[Tensors]) -> dict[str, NDArray[np.float32]]:
        """The stack's own optimizer applied to injected gradients, one entry a step; new parameters."""

    def run(self, recorder: Any) -> None:
        """The entry of a probe: the dialect's file tries this stack and tells the recorder what it saw. It asks for no
        more than `put`, `jit`, `wait`, `fetch`, `counters` and the framework itself."""
        self.workload.dialect(STACKS[self.case.stack].dialect).run(self, recorder)

    def put(self, value: NDArray[Any]) -> Any:
        """One host array on the device."""
        raise Unsupported("this stack has no arrays of its own")

    def jit(self, function: Callable[..., Any], static: Sequence[int] = ()) -> Callable[..., Any]:
        """A function as a user of this stack has it run: compiled, if it compiles, with the framework's own defaults.
        Of the arguments at the places `static` the values are part of the program."""
        return function

    def counters(self) -> dict[str, float | None]:
        """So far, from the framework's own counters: `traces`, `compiles`, `compile_seconds`, `graph_breaks`,
        `fallback_ops`. None: the framework doesn't count it; 0: counted none."""
        names = ("traces", "compiles", "compile_seconds", "graph_breaks", "fallback_ops")
        return dict.fromkeys(names)

    def listened(self, state: State, batch: Batch) -> tuple[State, Batch]:
        """State and batch for the one step that is listened to. As they are: libraries log by themselves."""
        return state, batch

    def kernels_used(self, told: kernels.Told) -> list[kernels.Used]:
        """Which libraries ran in the step that was listened to, on which instructions; what takes most first."""
        return kernels.libraries(told)

    def holders(self, told: kernels.Told, state: State, batch: Batch) -> Holders | None:
        """What holds memory at a step's peak; None where nobody can tell. It may take one more step, the last."""
        return None

    def programs(self, caches: Path) -> Iterable[tuple[str, Path]]:
        """(name, file) of what this process's compiler has left so far, in a folder of caches; see `suite.ir.files`."""
        return ()

    def lowered(self, state: State, batch: Batch) -> dict[str, str]:
        """What the framework itself says of the step that it compiled, by file name. Only the shapes of `state` and
        `batch` count."""
        return {}

    def compile_on_shapes(self, parameters: Mapping[str, Tensor], batch: Mapping[str, Tensor]) -> tuple[State, Batch]:
        """Have the step, built as abstract, compiled for tensors that aren't there; their shapes as `lowered` takes
        them."""
        raise Unsupported("this stack compiles only what it runs")

    def profile(self, steps: Callable[[], None], folder: Path) -> Traced | None:
        """Runs `steps`, which waits for what it submits, under the framework's own profiler. None: it has none."""
        return None

    def memory(self) -> dict[str, int | None]:
        """The framework's own figures in bytes: `device_peak_bytes`, `device_reserved_bytes`, `device_total_bytes`."""
        return dict.fromkeys(DEVICE_FIGURES)

    def program_memory(self, state: State, batch: Batch) -> dict[str, int | None]:
        """The compiler's own figures of the step, where it has any: `program_argument_bytes`, and so on. It may
        compile once more; `state` and `batch` are the last ones of the process."""
        return dict.fromkeys(PROGRAM_FIGURES)


def version(numbers: Iterable[int]) -> str:
    """(8, 0) as 8.0."""
    return ".".join(map(str, numbers))


def nested(tensors: Mapping[str, Any]) -> dict[str, Any]:
    """{"up.weight": w} as {"up": {"weight": w}}: the pytree that functional dialects take."""
    tree: dict[str, Any] = {}
    for path, value in tensors.items():
        *parents, leaf = path.split(".")
        node = tree
        for parent in parents:
            node = node.setdefault(parent, {})
        node[leaf] = value
    return tree


def flat(tree: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """The inverse of `nested`."""
    tensors: dict[str, Any] = {}
    for name, value in tree.items():
        if isinstance(value, Mapping):
            tensors |= flat(value, f"{prefix}{name}.")
        else:
            tensors[f"{prefix}{name}"] = value
    return tensors
