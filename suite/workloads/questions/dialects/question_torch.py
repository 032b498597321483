"""A question's function as a module in PyTorch. What gradients are taken of are its parameters."""

from types import SimpleNamespace

import torch
from torch import nn

from suite.workloads import trees
from suite.workloads.questions.models import taken


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


def stepping(setup, step, of_inputs, carried):
    """The file's own setup and step. A state is what the setup returned, by name, and the inputs that are carried."""
    named = []  # what the step takes: looked up once, since JAX looks only while it traces

    def start(values, batch):
        arguments = of_inputs(values | batch)
        state = {name: arguments[name] for name in carried} | dict(setup(**taken(setup, arguments, ())))
        named[:] = taken(step, arguments | state, ())
        return state

    def advance(step, state, batch):
        given = of_inputs(batch) | state
        result = step(**{name: given[name] for name in named})
        loss, changed = result if isinstance(result, tuple) else (result, {})  # it may change its state in place
        return state | changed, loss.detach()

    def values(state):
        named = {name: state[name] for name in carried}
        return {name: leaf.detach() for name, leaf in trees.leaves(named)}

    return SimpleNamespace(start=start, step=step, advance=advance, values=values)


def mean_cube(x):
    return x.abs().pow(3).mean() if x.is_floating_point() or x.is_complex() else None


def namespace():
    import array_api_compat.torch  # in environments of questions that have such functions

    return array_api_compat.torch
