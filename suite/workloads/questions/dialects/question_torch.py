"""A question's function as a module in PyTorch. What gradients are taken of are its parameters."""

from types import SimpleNamespace

import torch
from torch import nn


def code(function, of_inputs, loss, parameters):
    """`of_inputs` makes the function's arguments from named tensors; `parameters` are Tensors by name."""

    class Model(nn.Module):
        def __init__(self, **dims):
            super().__init__()
            for name, tensor in parameters.items():
                empty = torch.empty(tensor.shape, dtype=getattr(torch, tensor.dtype))
                self.register_parameter(name, nn.Parameter(empty))

        def forward(self, **inputs):
            return function(**of_inputs(self._parameters | inputs if parameters else inputs))

    def scalar(model, /, **inputs):
        return loss(model(**inputs), mean_cube)

    return SimpleNamespace(Model=Model, loss=scalar)


def mean_cube(x):
    return x.abs().pow(3).mean() if x.is_floating_point() or x.is_complex() else None


def namespace():
    import array_api_compat.torch  # in environments of questions that have such functions

    return array_api_compat.torch
