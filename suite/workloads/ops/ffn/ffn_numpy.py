"""ffn in NumPy. Legend: N = B*S tokens (one 2-D product for BLAS), D = width, F = hidden.

The constants are Python floats and the powers are products: a NumPy float64 scalar would turn every
array into float64, and `h**3` calls pow() for each element.
"""

import math

import numpy as np

CUBIC = 0.044715
SCALE = math.sqrt(2.0 / math.pi)


def hidden(parameters, x_ND):
    h_NF = x_ND @ parameters["up.weight"]
    h_NF += parameters["up.bias"]
    t_NF = h_NF * h_NF
    t_NF *= CUBIC * SCALE
    t_NF += SCALE
    t_NF *= h_NF
    np.tanh(t_NF, out=t_NF)
    g_NF = t_NF + 1.0
    g_NF *= h_NF
    g_NF *= 0.5
    return h_NF, t_NF, g_NF


def forward(dims, parameters, x):
    x_ND = x.reshape(-1, x.shape[-1])
    y_ND = hidden(parameters, x_ND)[-1] @ parameters["down.weight"]
    y_ND += parameters["down.bias"]
    return y_ND.reshape(x.shape)


def loss_and_gradients(dims, parameters, x, target):
    x_ND = x.reshape(-1, x.shape[-1])
    h_NF, t_NF, g_NF = hidden(parameters, x_ND)
    e_ND = g_NF @ parameters["down.weight"]
    e_ND += parameters["down.bias"]
    e_ND -= target.reshape(e_ND.shape)
    loss = np.mean(np.square(e_ND))

    e_ND *= 2.0 / e_ND.size  # now dY
    # gelu'(h) = (1 + t)/2 + h/2 (1 - t^2) SCALE (1 + 3 CUBIC h^2)
    slope_NF = h_NF * h_NF
    slope_NF *= 3.0 * CUBIC * SCALE
    slope_NF += SCALE
    slope_NF *= h_NF
    slope_NF *= 1.0 - t_NF * t_NF
    slope_NF += t_NF
    slope_NF += 1.0
    slope_NF *= 0.5
    dh_NF = e_ND @ parameters["down.weight"].T
    dh_NF *= slope_NF
    return loss, {
        "up.weight": x_ND.T @ dh_NF,
        "up.bias": dh_NF.sum(axis=0),
        "down.weight": g_NF.T @ e_ND,
        "down.bias": e_ND.sum(axis=0),
    }
