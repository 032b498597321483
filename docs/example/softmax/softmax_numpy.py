"""softmax in NumPy. Legend: R = rows, C = columns.

One array is made a call and worked on in place: each temporary would be another R x C array.
"""

import numpy as np


def forward(dims, parameters):
    x_RC = parameters["x"]
    y_RC = x_RC - x_RC.max(axis=-1, keepdims=True)  # the largest exponent is 0: nothing overflows
    np.exp(y_RC, out=y_RC)
    y_RC /= y_RC.sum(axis=-1, keepdims=True)
    return y_RC


def loss_and_gradients(dims, parameters, target):
    y_RC = forward(dims, parameters)
    d_RC = y_RC - target
    loss = np.mean(np.square(d_RC))
    d_RC *= 2.0 / d_RC.size  # now dY
    d_RC -= np.einsum("rc,rc->r", d_RC, y_RC)[:, np.newaxis]
    d_RC *= y_RC  # dX = Y (dY - sum(dY Y))
    return loss, {"x": d_RC}
