"""The interface between the worker and a stack. docs/how-to/stack.md walks through an example.

The adapter of a stack is the class `Adapter` in `<stack>_adapter.py`. Constructing it imports the framework (the import
phase), so the module itself can be imported on any machine. Warm-up, clocks, the stop rule, copies and outcome words
belong to the worker; an adapter has none of them.
"""

from __future__ import annotations

import gc
import inspect
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from inspect import Parameter
from types import ModuleType
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from suite.case import Case
from suite.stacks import kernels
from suite.stacks.catalog import STACKS
from suite.stacks.knobs import Knob, chosen
from suite.stacks.observed import DEVICE_FIGURES, PROGRAM_FIGURES, Batch, Observed, State, Trace, Unsupported
from suite.stacks.threads import cuda_environ, thread_environ
from suite.workloads import trees
from suite.workloads.catalog import CaseTensors, Workload

__all__ = ["DEVICE_FIGURES", "PROGRAM_FIGURES", "Adapter", "Trace", "Unsupported"]  # adapters take them from here

Named = Iterable[tuple[str, NDArray[Any]]]  # in the types of `tensors.stored_as`
Tensors = Mapping[str, NDArray[np.float32]]
TF32_CAPABILITY = (8, 0)  # the least compute capability with TF32: Ampere's
REASON_MAX = 300  # characters quoted from a framework's message: some messages contain a whole graph


class Adapter(Observed, ABC):
    """One stack, ready to run one case.

    `state` is the parameters with, in the train pass, the optimizer's state; the worker doesn't look into it, and
    passes each step the state that the step before returned. Canonical layout: weights are (inputs, outputs), names are
    dotted paths.
    """

    knobs: ClassVar[tuple[Knob, ...]] = ()  # for the tuned track; a stack without knobs doesn't run in that track
    packages: ClassVar[tuple[str, ...]] = ("numpy",)  # a row records the versions of these
    family: ClassVar[str]  # the dialect in whose form `code` returns a workload
    untraceable: ClassVar[tuple[str, ...]] = ()  # exceptions by which a framework says that it can't trace a function

    def __init__(self, case: Case, workload: Workload) -> None:
        self.case = case
        self.dims = dict(case.dims)
        self.take(workload)
        self.train = case.pass_ != "forward"  # gradients are taken, by an optimizer or as results
        self.tuned = chosen(self.knobs, case, workload)
        if case.track == "tuned" and not self.tuned:  # else a row called tuned would measure the default settings
            raise Unsupported(f"no tuned setting changes {case.workload} on this {case.target}")

    @classmethod
    def of(cls, workload: Workload) -> type[Adapter]:
        """Returns the class that runs a workload on this stack. Raises Unsupported for steps that a question brings,
        which only some stacks run."""
        if workload.has_step:
            raise Unsupported("it runs modules and functions; a step of the file's own is neither")
        return cls

    def take(self, workload: Workload) -> None:
        """Takes the workload whose code runs, and its tensors."""
        self.workload = workload
        self.optimizer: str | None = getattr(workload.spec, "OPTIMIZER", None)  # "adamw", "sgd", a file's own, or none
        probe = workload.is_probe
        self.tensors = CaseTensors({}, {}, {}) if probe else workload.tensors(self.dims, self.case.pass_)
        self.buffers = frozenset(self.tensors.buffers)

    def code(self) -> Any:
        """Returns the workload's code in the dialect of this stack. Imports the framework."""
        return self.workload.code(STACKS[self.case.stack].dialect, self.family, self.case)

    def cannot_trace(self, error: BaseException) -> bool:
        """Whether a framework has refused to trace a function of a question."""
        case = vars(self).get("case")  # `adapter_in` has dropped it
        names = {kind.__name__ for kind in type(error).__mro__}
        return bool(case and case.implementation) and not names.isdisjoint(self.untraceable)

    @property
    def types(self) -> dict[str, str]:
        tensors = self.tensors.parameters | self.tensors.buffers | self.tensors.batch
        return {name: tensor.dtype for name, tensor in tensors.items()}

    @property
    def has_wide_types(self) -> bool:
        """Whether a tensor has a 64-bit type, which JAX has only where it is switched on."""
        return bool({"float64", "complex128", "int64"} & {*self.types.values()})

    @classmethod
    def environ(cls, case: Case, cache_directory: str) -> dict[str, str]:
        """Returns the environment variables to set before the framework is imported. It has no side effects; a stack
        adds its own variables to those of `super()`.

        `cache_directory` is the folder for compile caches. In a cold case it is new and empty; in a warm case an
        earlier process of the same block has filled it.
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
        """Returns `environ` for a process that is never timed: its compiler writes the programs that it compiles to the
        folder of compile caches."""
        return cls.environ(case, cache_directory)

    @abstractmethod
    def device(self) -> dict[str, Any]:
        """Starts the runtime and claims the device. Returns facts for the row: the device's name, the framework's own
        count of threads.

        Raises `no_device` if the target's hardware isn't there.
        """

    def no_device(self, words: BaseException | str) -> Unsupported:
        """Returns the exception for a machine without the target's hardware; it quotes `words`, the framework's error
        or message."""
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
        """Returns the product a b, computed on the device like the step: with the same settings and precision, and
        compiled if the step is.

        The worker calls it after `device`, to find out in which precision the stack really computes.
        """

    def adapter_in(self, precision: str) -> Adapter:
        """Returns a second adapter in this process, already built, for the same stack and workload in another
        precision. This adapter can't be used afterwards: it has dropped its model, because two may need more memory
        than the machine has."""
        kind, case, workload = type(self), replace(self.case, precision=precision), self.workload
        vars(self).clear()
        gc.collect()
        adapter = kind(case, workload)
        adapter.device()
        adapter.build()
        return adapter

    def make_model(self, dialect: ModuleType) -> Any:
        """Returns the model of a dialect whose file has a class `Model`, made with the dims that its `__init__`
        names."""
        return dialect.Model(**taken(dialect.Model.__init__, self.dims))

    @abstractmethod
    def build(self, abstract: bool = False) -> None:
        """Makes the step, ready to call but not compiled. If `abstract`, the step is for shapes only, and no memory is
        allocated."""

    @abstractmethod
    def place(self, parameters: Named, batch: Named, moments: bool = True) -> tuple[State, Batch]:
        """Puts parameters, fresh optimizer state and inputs on the device, tensor by tensor, and waits until they are
        there. Returns (state, batch).

        `parameters` ends with the workload's buffers, if it has any: state without a gradient. Without `moments` only
        `read` uses the state, and the adapter keeps no memory for moments: the gradients that `read` returns need as
        much memory as one moment of every parameter.
        """

    @abstractmethod
    def step(self, state: State, batch: Batch) -> tuple[State, Any]:
        """Submits one step. Returns (state, outputs); outputs are the result in the forward pass, the loss in the train
        pass, and (loss, gradients) without an optimizer."""

    @abstractmethod
    def wait(self, state: State, outputs: Any) -> None:
        """Returns when state and outputs are computed."""

    @abstractmethod
    def fetch(self, array: Any) -> NDArray[Any]:
        """Returns one array in host memory: a writable array that shares memory with no other. It has the array's own
        type; bfloat16, which NumPy lacks, becomes float32."""

    def unchanged(self, name: str, array: Any) -> NDArray[Any]:
        """Returns an input of the batch on the host, in the layout in which its values were generated."""
        value = self.fetch(array)
        images = self.family == "torch" and self.tensors.batch[name].images
        return value.transpose(0, 2, 3, 1) if images else value

    def results(self, outputs: Any) -> Any:
        """Returns a step's result in host memory: the loss, or the tree of outputs with `fetch` of each leaf."""
        return self.fetch(self.loss_of(outputs)) if self.train else trees.mapped(self.fetch, outputs)

    def loss_of(self, outputs: Any) -> Any:
        return outputs[0] if isinstance(outputs, tuple) else outputs

    def result_types(self, outputs: Any) -> dict[str, str]:
        """Returns the type of each leaf of a step's result by its name: `float32`, `int64`."""
        tree = self.loss_of(outputs) if self.train else outputs
        return {name: self.type_of(leaf) for name, leaf in trees.leaves(tree)}

    def type_of(self, array: Any) -> str:
        dtype = getattr(array, "dtype", None)
        return str(getattr(dtype, "name", dtype) or np.asarray(array).dtype).removeprefix("torch.")

    @abstractmethod
    def read(self, what: str, state: State, batch: Batch) -> dict[str, NDArray[np.float32]]:
        """Returns tensors for the gate, in canonical names and layout. `what` is one of

        - "parameters": the parameters and buffers in the state;
        - "moments": `m/<name>` and `v/<name>` of each parameter for AdamW, `v/<name>` for momentum;
        - "gradients": the gradients, which are computed now, and "loss";
        - "output": the output of the forward pass; of several, a tree.

        The tensors are valid until the next call: on a CPU they may be aliases, because a copy of a model's gradients
        may not fit into memory.
        """

    def watched(self, call: Callable[[], Any]) -> tuple[Any, list[str]]:
        """Returns what `call` returns, and the framework's functions that have computed it in a wider type than its
        inputs have."""
        return call(), []

    def is_unstable(self) -> bool:
        """Whether this stack computes this workload by a kernel of its framework that loses digits where values are
        far from zero: a norm with the variance E[x^2] - E[x]^2, as XLA's batch norm has it, or a product that adds its
        terms onto a large sum. With stressed weights such a step is wrong, and the row is flagged. The worker calls it
        after `build`."""
        return False

    def has_frozen_weights(self) -> bool:
        """Whether the weights are constants of the step's program. Then all that depends on them alone may be computed
        before the step, and the row is flagged."""
        return False

    @abstractmethod
    def update(self, parameters: Tensors, gradients: Sequence[Tensors]) -> dict[str, NDArray[np.float32]]:
        """Returns the parameters after steps of the stack's own optimizer with injected gradients; `gradients` has an
        entry for each step."""

    def run(self, recorder: Any) -> None:
        """Runs a probe: the dialect's file tries out this stack and records what it observes. It uses only `put`,
        `jit`, `wait`, `fetch`, the counters and the framework itself."""
        self.code().run(self, recorder)


def taken(function: Callable[..., Any], dims: Mapping[str, int]) -> dict[str, int]:
    """Returns the dims that a function names among its parameters; all of them if it takes any keyword, as `**dims`.

    A framework's own `__init__(self, *args, **kwargs)`, which a model without one inherits, takes none.
    """
    kinds = {name: parameter.kind for name, parameter in inspect.signature(function).parameters.items()}
    if Parameter.VAR_KEYWORD in kinds.values() and Parameter.VAR_POSITIONAL not in kinds.values():
        return dict(dims)
    return {name: size for name, size in dims.items() if name in kinds}


def plain(array: Any) -> NDArray[Any]:
    """Returns an array on the host, maybe an alias; bfloat16, which NumPy lacks, becomes float32."""
    host = np.asarray(array)
    return host.astype(np.float32) if host.dtype.name == "bfloat16" else host


def version(numbers: Iterable[int]) -> str:
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
