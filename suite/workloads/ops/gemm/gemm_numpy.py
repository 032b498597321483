"""gemm for the stack `numpy`, with the gradient by hand. The float64 reference is in spec.py."""

import numpy as np


def forward(dims, parameters, a):
    return a @ parameters["b"]


def loss_and_gradients(dims, parameters, a, target):
    y = a @ parameters["b"]
    y -= target  # the error, in place: no second M x N array
    loss = np.mean(np.square(y))
    y *= np.float32(2.0 / y.size)
    return loss, {"b": a.T @ y}
