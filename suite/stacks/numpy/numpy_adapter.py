"""NumPy: one BLAS, no graph, and gradients written by hand in the dialect files."""

from __future__ import annotations

import numpy as np

from suite import protocol
from suite.stacks import base
from suite.stacks.numpy import numpy_calls


class Adapter(base.Adapter):
    """State: {"parameters", "moments", "count"}, updated in place as NumPy code would."""

    family = "numpy"

    def device(self):
        return {"device": "cpu", "blas": np.show_config(mode="dicts")["Build Dependencies"]["blas"]["name"]}

    def matmul(self, a, b):
        return a @ b

    def build(self, abstract=False):
        self.dialect = self.code()

    def place(self, parameters, batch, moments=True):
        state = {"parameters": {name: value.copy() for name, value in parameters}, "count": 0}
        if self.train and self.optimizer and moments:
            trained = {name: state["parameters"][name] for name in self.tensors.parameters}
            state["moments"] = zeros(trained, self.optimizer)
        return state, {name: value.copy() for name, value in batch}

    def listen(self, state, batch):
        numpy_calls.calls.clear()
        return numpy_calls.recording((state, batch))

    def kernels_used(self, logs):
        return numpy_calls.kernels_used()

    def put(self, value):
        return value.copy()

    def step(self, state, batch):
        if not self.train:
            return state, self.dialect.forward(self.dims, state["parameters"], **batch)
        loss, gradients = self.dialect.loss_and_gradients(self.dims, state["parameters"], **batch)
        if not self.optimizer:
            return state, (loss, gradients)
        self.apply(state, gradients)
        return state, loss

    def apply(self, state, gradients):
        OPTIMIZERS[self.optimizer](state, gradients)

    def profile(self, steps, folder):
        self.apply = numpy_calls.recorded_as("optimizer", self.apply)
        steps()
        return base.Trace("NumPy's protocol for array-likes", numpy_calls.spans())

    def wait(self, state, outputs):
        pass  # NumPy returns when the result is there

    def fetch(self, array):
        return np.array(array)

    def read(self, what, state, batch):
        parameters = state["parameters"]
        if what == "parameters":
            return dict(parameters)
        if what == "moments":
            moments = state["moments"].items()
            kinds = protocol.MOMENTS[self.optimizer]
            return {f"{kind}/{n}": value for n, values in moments for kind, value in zip(kinds, values, strict=True)}
        if what == "output":
            inputs = {name: value for name, value in batch.items() if name != "target"}
            return {"output": self.dialect.forward(self.dims, parameters, **inputs)}
        loss, gradients = self.dialect.loss_and_gradients(self.dims, parameters, **batch)
        return {"loss": np.asarray(loss), **gradients}

    def watched(self, call):
        return numpy_calls.watched(call)

    def update(self, parameters, gradients):
        updated = {name: value.copy() for name, value in parameters.items()}
        state = {"parameters": updated, "count": 0, "moments": zeros(updated, self.optimizer)}
        for injected in gradients:
            self.apply(state, injected)
        return updated


def zeros(parameters, optimizer):
    """Returns the optimizer's moments of each parameter, before the first step."""
    return {name: tuple(np.zeros_like(p) for _ in protocol.MOMENTS[optimizer]) for name, p in parameters.items()}


def adamw(state, gradients):
    """Takes one AdamW step in place: every moment and parameter is read and written once per operation."""
    state["count"] += 1
    correction1 = 1.0 - protocol.BETA1 ** state["count"]
    correction2 = 1.0 - protocol.BETA2 ** state["count"]
    for name, (m, v) in state["moments"].items():
        p, g = state["parameters"][name], gradients[name]
        m *= protocol.BETA1
        m += (1.0 - protocol.BETA1) * g
        v *= protocol.BETA2
        v += (1.0 - protocol.BETA2) * np.square(g)
        denominator = np.sqrt(v)
        denominator *= 1.0 / correction2**0.5
        denominator += protocol.EPSILON
        np.divide(m, denominator, out=denominator)
        denominator *= protocol.LEARNING_RATE / correction1
        p *= 1.0 - protocol.LEARNING_RATE * protocol.WEIGHT_DECAY
        p -= denominator


def sgd(state, gradients):
    """Takes one step of SGD with momentum in place."""
    for name, (v,) in state["moments"].items():
        v *= protocol.MOMENTUM
        v += gradients[name]
        state["parameters"][name] -= protocol.LEARNING_RATE * v


OPTIMIZERS = {"adamw": adamw, "sgd": sgd}
