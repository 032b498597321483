"""rnn for the stack `numpy`, with gradients by hand. The float64 reference is in spec.py.

Legend: B = batch, S = seq, D = width, H = hidden, G = 4*H, P = S*B rows of all steps. A trailing 4 is the gates i, f,
g, o apart. Lower case: d is a gradient.

sigmoid(x) is (1 + tanh(x/2)) / 2, so all gates of a step take one tanh, in place.
"""

import numpy as np


def unroll(parameters, x):
    """Returns rows of x, the gates of each step, and its cells and hidden states, with the zero state before them."""
    B, S, D = x.shape
    u_HG = parameters["lstm.weight_hh_l0"]
    H = len(u_HG)
    x_PD = x.swapaxes(0, 1).reshape(S * B, D)
    gates_PG = x_PD @ parameters["lstm.weight_ih_l0"]  # of all steps in one product
    gates_PG += parameters["lstm.bias_ih_l0"]
    gates_SB4H = gates_PG.reshape(S, B, 4, H)
    c_SBH = np.zeros((S + 1, B, H), x.dtype)
    h_SBH = np.zeros((S + 1, B, H), x.dtype)
    slope_4H = np.repeat(np.array([0.5, 0.5, 1.0, 0.5], x.dtype), H).reshape(4, H)
    shift_4H = 1.0 - slope_4H
    for s in range(S):
        gates_B4H = gates_SB4H[s]
        gates_B4H += (h_SBH[s] @ u_HG).reshape(B, 4, H)
        gates_B4H *= slope_4H
        np.tanh(gates_B4H, out=gates_B4H)
        gates_B4H *= slope_4H
        gates_B4H += shift_4H
        i_BH, f_BH, g_BH, o_BH = gates_B4H.swapaxes(0, 1)
        np.multiply(f_BH, c_SBH[s], out=c_SBH[s + 1])
        c_SBH[s + 1] += i_BH * g_BH
        np.multiply(o_BH, np.tanh(c_SBH[s + 1]), out=h_SBH[s + 1])
    return x_PD, gates_SB4H, c_SBH, h_SBH


def forward(dims, parameters, x):
    return np.ascontiguousarray(unroll(parameters, x)[-1][1:].swapaxes(0, 1))


def loss_and_gradients(dims, parameters, x, target):
    x_PD, gates_SB4H, c_SBH, h_SBH = unroll(parameters, x)
    S, B, _, H = gates_SB4H.shape
    u_GH = parameters["lstm.weight_hh_l0"].T
    e_SBH = h_SBH[1:] - target.swapaxes(0, 1)
    loss = np.mean(np.square(e_SBH))

    e_SBH *= 2.0 / e_SBH.size  # now dY
    dgates_SB4H = np.empty_like(gates_SB4H)
    dh_BH = np.zeros((B, H), x.dtype)
    dc_BH = np.zeros((B, H), x.dtype)
    for s in reversed(range(S)):
        i_BH, f_BH, g_BH, o_BH = gates_SB4H[s].swapaxes(0, 1)
        di_BH, df_BH, dg_BH, do_BH = dgates_SB4H[s].swapaxes(0, 1)  # views: the results land in place
        dh_BH += e_SBH[s]
        tanh_BH = np.tanh(c_SBH[s + 1])
        np.multiply(dh_BH, tanh_BH, out=do_BH)
        do_BH *= o_BH * (1.0 - o_BH)
        dh_BH *= o_BH
        dc_BH += dh_BH * (1.0 - tanh_BH * tanh_BH)
        np.multiply(dc_BH, g_BH * i_BH * (1.0 - i_BH), out=di_BH)
        np.multiply(dc_BH, c_SBH[s] * f_BH * (1.0 - f_BH), out=df_BH)
        np.multiply(dc_BH, i_BH * (1.0 - g_BH * g_BH), out=dg_BH)
        dh_BH = dgates_SB4H[s].reshape(B, 4 * H) @ u_GH
        dc_BH *= f_BH
    dgates_PG = dgates_SB4H.reshape(S * B, 4 * H)
    return loss, {
        "lstm.weight_ih_l0": x_PD.T @ dgates_PG,
        "lstm.weight_hh_l0": h_SBH[:-1].reshape(S * B, H).T @ dgates_PG,
        "lstm.bias_ih_l0": dgates_PG.sum(axis=0),
    }
