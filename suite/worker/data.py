"""The tensors of one case: generated anew for each use, and hashed while they are placed one by one."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite import protocol
from suite.case import Case
from suite.errors import UserError
from suite.reference.expected import (
    ReferenceAnswer,
    from_reference,
    load,
    named,
    of_model,
    under_stress,
    with_optimizer,
)
from suite.stacks.base import Adapter
from suite.workloads import trees
from suite.workloads.catalog import Workload
from suite.workloads.tensors import Tensor, exact, generate_all, random_words, stressed

SHAKE = 2.0**-20  # about what the roundings of float32 add up to in a deep model


class Data:
    """Parameters, buffers, inputs and (in the train pass) the target of one case, from its seed. If `under_stress`, the
    parameters are those of the spec's `STRESSED`."""

    def __init__(self, case: Case, workload: Workload, seed: int, under_stress: bool = False) -> None:
        self.case, self.workload, self.spec, self.seed = case, workload, workload.spec, seed
        self.dims = dict(case.dims)
        self.stressed = stressed(self.spec, self.dims)
        tensors = workload.tensors(self.dims, case.pass_)
        self.parameters: dict[str, Tensor] = self.stressed if under_stress else tensors.parameters
        self.buffers, self.batch = tensors.buffers, tensors.batch
        self.generating_seconds = 0.0
        self.no_float64 = ""  # why a model's reference can't be computed
        self.digest = hashlib.sha256()

    @property
    def parameter_count(self) -> int:
        return sum(tensor.size for tensor in self.parameters.values())

    def stream(self, tensors: dict[str, Tensor], group: str) -> Iterator[tuple[str, NDArray[Any]]]:
        """Yields (name, values); the seconds spent generating them add up in `generating_seconds`."""
        source = generate_all(tensors, group, self.seed)
        while True:
            start = perf_counter()
            tensor = next(source, None)
            if tensor is not None:
                name, values = tensor
                self.digest.update(name.encode())
                self.digest.update(values.data)
            self.generating_seconds += perf_counter() - start
            if tensor is None:
                return
            yield tensor

    def place(self, adapter: Adapter, moments: bool = True) -> tuple[Any, Any]:
        """Returns a fresh (state, batch) on the device. Without `moments`, the state can be read but not stepped."""
        self.generating_seconds, self.digest = 0.0, hashlib.sha256()
        state = self.stream(self.parameters | self.buffers, "parameter")
        return adapter.place(state, self.stream(self.batch, "batch"), moments)

    def values(self) -> Iterator[tuple[str, NDArray[Any]]]:
        return generate_all(self.parameters | self.buffers, "parameter", self.seed)

    def arguments(self) -> Iterator[dict[str, NDArray[Any]]]:
        """Yields the parameters and buffers, then the batch, in the types of a reference's arguments."""
        for part in (self.values(), generate_all(self.batch, "batch", self.seed)):
            yield {name: exact(value) for name, value in part}

    def compared(self, outputs: Any) -> dict[str, NDArray[Any]]:
        """Returns the leaves of a tree of results as they are compared: by the spec's `canonical`, if it has one. Of a
        single result the name is `output`, of several `output/…`."""
        if hasattr(self.spec, "canonical"):
            inputs = {**dict(self.values()), **dict(generate_all(self.batch, "batch", self.seed))}
            outputs = self.spec.canonical(outputs, **trees.filled(self.workload.arguments(self.dims), inputs))
        return named(outputs)

    def results(self, adapter: Adapter, result: Any) -> dict[str, NDArray[Any]]:
        return {"loss": np.asarray(result)} if adapter.train else self.compared(result)

    def shaken(self, draw: int, times: float, further: bool) -> ReferenceAnswer:
        """Returns a model's answer in float64 for parameters that are off by so many times a rounding of `SHAKE`, up or
        down as number `draw` of the draws says. `further` asks for the curve, too."""
        values, batch = self.arguments()
        for name, value in values.items():
            words = np.asarray(random_words(f"shaken/{draw}/{name}").random_raw(value.size))
            signs = (words & np.uint64(1)) * 2.0 - 1.0
            values[name] = value * (1.0 + SHAKE * times * signs.reshape(value.shape))
        steps = protocol.CURVE_STEPS if further else 0
        return of_model(self.spec.exact, values, batch, self.compared, self.case.pass_, steps)

    def expected(self, optimizer: str | None = None) -> ReferenceAnswer | None:
        """Returns what the step must give: the spec's float64 answer, or a model's golden file of these dims; None if
        there is neither. `optimizer` takes the place of the spec's. Raises UserError for a golden file without the
        results of stressed weights, if the spec has such weights, and for a lacking one of the optimizer's."""
        optimizer = optimizer or self.spec.OPTIMIZER
        if hasattr(self.spec, "exact"):
            values, batch = self.arguments()
            try:
                further = protocol.CURVE_STEPS
                return of_model(self.spec.exact, values, batch, self.compared, self.case.pass_, further)
            except Exception as refused:  # noqa: BLE001  # somebody's module has any reason not to run in float64
                self.no_float64 = f"{type(refused).__name__}: {refused}"
                return None
        if hasattr(self.spec, "reference"):
            parameters, batch = self.arguments()
            answer = from_reference(self.spec, self.dims, parameters, batch, self.compared, optimizer, self.buffers)
            if self.stressed:
                stressed = Data(self.case, self.workload, self.seed, under_stress=True)
                answer.stressed = under_stress(self.spec, self.dims, *stressed.arguments())
            return answer
        path = self.workload.golden(self.dims) if self.seed == 0 else None
        if path is None:
            return None
        answer = load(path)
        if self.stressed and not answer.stressed:
            raise UserError(
                f"{path} lacks the results of the spec's STRESSED weights. Make it again by "
                f"'.venv/bin/python -m tools.golden --workload={self.workload.name} --size={path.stem}'."
            )
        if optimizer != self.spec.OPTIMIZER:
            answer.take_steps_of(load(with_optimizer(path, optimizer)))
        return answer
