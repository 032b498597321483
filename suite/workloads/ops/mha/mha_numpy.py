"""mha for the stack `numpy`, with gradients by hand. The float64 reference is in spec.py.

Legend: B = batch, S = T = seq (T of keys), D = width, E = 3*D, N = heads, H = D/N, P = B*S tokens. Lower case: e is the
error of the output, d a gradient.
"""

import numpy as np


def attend(parameters, x, heads):
    """Returns q, k, v, the probabilities p and the heads' output o. Both products of attention are batched over (B, N):
    np.matmul hands each matrix to BLAS."""
    B, S, D = x.shape
    qkv_PE = x.reshape(B * S, D) @ parameters["qkv.weight"]
    qkv_PE += parameters["qkv.bias"]
    q_BNSH, k_BNSH, v_BNSH = qkv_PE.reshape(B, S, 3, heads, D // heads).transpose(2, 0, 3, 1, 4)
    q_BNSH = q_BNSH * (D // heads) ** -0.5
    p_BNST = q_BNSH @ k_BNSH.swapaxes(-1, -2)
    p_BNST -= p_BNST.max(axis=-1, keepdims=True)
    np.exp(p_BNST, out=p_BNST)
    p_BNST /= p_BNST.sum(axis=-1, keepdims=True)
    o_PD = (p_BNST @ v_BNSH).transpose(0, 2, 1, 3).reshape(B * S, D)
    return q_BNSH, k_BNSH, v_BNSH, p_BNST, o_PD


def forward(dims, parameters, x):
    o_PD = attend(parameters, x, dims["heads"])[-1]
    y_PD = o_PD @ parameters["out.weight"]
    y_PD += parameters["out.bias"]
    return y_PD.reshape(x.shape)


def loss_and_gradients(dims, parameters, x, target):
    B, S, D = x.shape
    heads = dims["heads"]
    q_BNSH, k_BNSH, v_BNSH, p_BNST, o_PD = attend(parameters, x, heads)
    e_PD = o_PD @ parameters["out.weight"]
    e_PD += parameters["out.bias"]
    e_PD -= target.reshape(B * S, D)
    loss = np.mean(np.square(e_PD))

    e_PD *= 2.0 / e_PD.size  # now dY
    do_BNSH = (e_PD @ parameters["out.weight"].T).reshape(B, S, heads, -1).transpose(0, 2, 1, 3)
    dl_BNST = do_BNSH @ v_BNSH.swapaxes(-1, -2)
    dl_BNST -= np.sum(dl_BNST * p_BNST, axis=-1, keepdims=True)
    dl_BNST *= p_BNST
    dqkv_BS3NH = np.empty((B, S, 3, heads, D // heads), dtype=x.dtype)
    dqkv_3BNSH = dqkv_BS3NH.transpose(2, 0, 3, 1, 4)  # a view: the results land in place
    np.multiply(dl_BNST @ k_BNSH, (D // heads) ** -0.5, out=dqkv_3BNSH[0])
    dqkv_3BNSH[1] = dl_BNST.swapaxes(-1, -2) @ q_BNSH  # q carries the scale already
    dqkv_3BNSH[2] = p_BNST.swapaxes(-1, -2) @ do_BNSH
    dqkv_PE = dqkv_BS3NH.reshape(B * S, 3 * D)
    return loss, {
        "qkv.weight": x.reshape(B * S, D).T @ dqkv_PE,
        "qkv.bias": dqkv_PE.sum(axis=0),
        "out.weight": o_PD.T @ e_PD,
        "out.bias": e_PD.sum(axis=0),
    }
