"""The tensors of one case: generated once per use, placed tensor by tensor, digested on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite.case import Case
from suite.stacks.base import Adapter
from suite.workloads.catalog import Workload
from suite.workloads.tensors import Normal, generate_all


class Data:
    """Parameters, inputs and (in the train pass) the target of one case, from its seed."""

    def __init__(self, case: Case, workload: Workload, seed: int) -> None:
        self.spec, self.seed, self.dims = workload.spec, seed, dict(case.dims)
        self.parameters: dict[str, Normal] = self.spec.parameters(self.dims)
        self.batch: dict[str, Normal] = dict(self.spec.inputs(self.dims))
        if case.pass_ == "train":
            self.batch["target"] = self.spec.target(self.dims)
        self.generating_seconds = 0.0
        self.digest = hashlib.sha256()

    @property
    def parameter_count(self) -> int:
        """Trained values."""
        return sum(tensor.size for tensor in self.parameters.values())

    def stream(self, tensors: dict[str, Normal], group: str) -> Iterator[tuple[str, NDArray[np.float32]]]:
        """(name, values), with the seconds that making them took kept apart."""
        source = generate_all(tensors, group, self.seed)
        while True:
            start = perf_counter()
            made = next(source, None)
            if made is not None:
                self.digest.update(made[0].encode())
                self.digest.update(made[1].data)
            self.generating_seconds += perf_counter() - start
            if made is None:
                return
            yield made

    def place(self, adapter: Adapter) -> tuple[Any, Any]:
        """(state, batch) on the device, fresh."""
        self.generating_seconds, self.digest = 0.0, hashlib.sha256()
        return adapter.place(self.stream(self.parameters, "parameter"), self.stream(self.batch, "batch"))

    def exact(self) -> tuple[dict[str, NDArray[np.float64]], dict[str, NDArray[np.float64]]]:
        """(parameters, batch) in float64, for the reference."""
        both = ((self.parameters, "parameter"), (self.batch, "batch"))
        first, second = (
            {name: value.astype(np.float64) for name, value in generate_all(tensors, group, self.seed)}
            for tensors, group in both
        )
        return first, second

    def reference(self, parameters: Any, inputs: Any, target: Any) -> dict[str, NDArray[np.float64]]:
        """The spec's float64 answer: `output`, and with a target `loss` and the gradients."""
        answer: dict[str, NDArray[np.float64]] = self.spec.reference(self.dims, parameters, **inputs, target=target)
        return answer
