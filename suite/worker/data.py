"""The tensors of one case: generated once per use, placed tensor by tensor, digested on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite.case import Case
from suite.reference.expected import Expected, from_reference, load
from suite.stacks.base import Adapter
from suite.workloads.catalog import Workload
from suite.workloads.tensors import Tensor, buffers_of, generate_all


class Data:
    """Parameters, inputs and (in the train pass) the target of one case, from its seed."""

    def __init__(self, case: Case, workload: Workload, seed: int) -> None:
        self.workload, self.spec, self.seed, self.dims = workload, workload.spec, seed, dict(case.dims)
        self.parameters: dict[str, Tensor] = self.spec.parameters(self.dims)
        self.buffers: dict[str, Tensor] = buffers_of(self.spec, self.dims)
        self.batch: dict[str, Tensor] = dict(self.spec.inputs(self.dims))
        if case.pass_ == "train":
            self.batch["target"] = self.spec.target(self.dims)
        self.generating_seconds = 0.0
        self.digest = hashlib.sha256()

    @property
    def parameter_count(self) -> int:
        """Trained values."""
        return sum(tensor.size for tensor in self.parameters.values())

    def stream(self, tensors: dict[str, Tensor], group: str) -> Iterator[tuple[str, NDArray[Any]]]:
        """(name, values), with the seconds that making them took kept apart."""
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
        """(state, batch) on the device, fresh; without `moments` to be read alone."""
        self.generating_seconds, self.digest = 0.0, hashlib.sha256()
        state = self.stream(self.parameters | self.buffers, "parameter")
        return adapter.place(state, self.stream(self.batch, "batch"), moments)

    def values(self) -> Iterator[tuple[str, NDArray[Any]]]:
        """(name, values) of every parameter and buffer, as placed."""
        return generate_all(self.parameters | self.buffers, "parameter", self.seed)

    def expected(self) -> Expected | None:
        """What the gate asks for: the spec's float64 answer, a model's golden file, or None where there is neither."""
        if hasattr(self.spec, "reference"):
            batch = generate_all(self.batch, "batch", self.seed)
            exact = ({name: value.astype(np.float64) for name, value in part} for part in (self.values(), batch))
            return from_reference(self.spec, self.dims, *exact)
        path = self.workload.golden(self.dims) if self.seed == 0 else None
        return load(path) if path else None
