"""A question's function as the forward pass of a workload in NumPy. Gradients are those that the file brings."""

from types import SimpleNamespace

import numpy as np


def code(function, of_inputs, loss, parameters, gradient):
    """`of_inputs` makes the function's arguments from named arrays; `gradient` returns a loss and gradients by name."""

    def forward(dims, parameters, /, **inputs):
        return function(**of_inputs(parameters | inputs))

    def loss_and_gradients(dims, parameters, /, **inputs):
        return gradient(**of_inputs(parameters | inputs))

    return SimpleNamespace(forward=forward, loss_and_gradients=loss_and_gradients)


def namespace():
    return np
