"""Keras on PyTorch, eager as Keras decides: `fit`'s and `predict`'s step, an nn.Module of Keras's layers."""

from __future__ import annotations

import numpy as np

from suite.stacks.keras.keras_adapter import JIT, KerasAdapter, OnBackend
from suite.stacks.keras.keras_model_adapter import OfFile
from suite.stacks.observed import Observed
from suite.stacks.torch import torch_eager_adapter as torch_eager
from suite.stacks.torch import torch_inductor_adapter as torch_inductor


class Adapter(KerasAdapter, torch_eager.Adapter):
    backend = "torch"
    packages = ("keras", *torch_eager.Adapter.packages)
    knobs = (JIT,)
    holders = Observed.holders  # eager PyTorch finds tensors by its own optimizer

    @classmethod
    def environ(cls, case, cache_directory):
        # Where the tuned track compiles, Inductor must not share its cache. Keras else takes a GPU where there is one.
        inductor = torch_inductor.Adapter.environ(case, cache_directory)
        return super().environ(case, cache_directory) | inductor | {"KERAS_TORCH_DEVICE": case.target}

    def put_input(self, name, value):
        return self.put(value).to(self.torch_type(self.tensors.batch[name]))  # images as they are: channels last

    def renew(self, variable, moments):
        variable.value.data = self.put(np.zeros(variable.shape if moments else 0, np.float32))

    def loss_and_gradients(self, state, x, y):
        model = self.model
        model.zero_grad(set_to_none=True)
        loss = model.compute_loss(x, y, model(x, training=True))
        loss.backward()
        tensors = [variable.value for variable in model.trainable_variables]  # the loss may leave some out
        return loss.detach(), [self.torch.zeros_like(of) if of.grad is None else of.grad for of in tensors]

    def is_unstable(self):
        return bool(self.buffers)  # Keras's batch norm on PyTorch computes the variance as E[x^2] - E[x]^2

    def counters(self):
        return super().counters() | (torch_inductor.compiled() if JIT.name in self.tuned else {})


class ModelAdapter(OfFile, Adapter):
    """State: as for the suite's own models."""


class FunctionAdapter(OnBackend, torch_eager.Adapter):
    """State: as `torch_eager` has it."""

    backend, packages, environ = Adapter.backend, Adapter.packages, Adapter.environ
    of_models = ModelAdapter
