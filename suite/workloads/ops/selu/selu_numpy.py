"""selu for the stack `numpy`, with the gradient by hand. The float64 reference is in spec.py."""

import numpy as np

ALPHA = 1.67
LAMBDA = 1.05


def forward(dims, parameters):
    x = parameters["x"]
    return LAMBDA * np.where(x > 0, x, ALPHA * np.expm1(x))


def loss_and_gradients(dims, parameters, target):
    x = parameters["x"]
    negative = ALPHA * np.expm1(x)
    error = LAMBDA * np.where(x > 0, x, negative) - target
    loss = np.mean(np.square(error))
    error *= 2.0 * LAMBDA / error.size
    error *= np.where(x > 0, np.float32(1.0), negative + ALPHA)  # ALPHA exp(x) = ALPHA expm1(x) + ALPHA
    return loss, {"x": error}
