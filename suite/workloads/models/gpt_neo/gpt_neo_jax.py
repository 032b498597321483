"""GPT-Neo in JAX.

Legend: B = batch, T = seq, D = width, N = heads, H = D/N, V = vocab.
"""

import jax
import jax.numpy as jnp

from suite.workloads.layers.layers_jax import cross_entropy, dense, layer_norm, mlp

EPSILON = 1e-5


def attention(parameters, x_BTD, heads, before):
    """Causal attention; `before` is the number of earlier tokens that a token attends to, None for all."""
    B, T, D = x_BTD.shape
    q_BTNH, k_BTNH, v_BTNH = (
        (x_BTD @ parameters[name]["weight"]).reshape(B, T, heads, D // heads) for name in ("query", "key", "value")
    )
    o_BTNH = jax.nn.dot_product_attention(
        q_BTNH,
        k_BTNH,
        v_BTNH,
        scale=1.0,  # GPT-Neo doesn't scale its logits
        is_causal=True,
        local_window_size=None if before is None else (before, 0),
    )
    return dense(parameters["out"], o_BTNH.reshape(B, T, D))


def block(parameters, x_BTD, heads, before):
    normed_BTD = layer_norm(parameters["norm1"], x_BTD, EPSILON)
    x_BTD = x_BTD + attention(parameters["attention"], normed_BTD, heads, before)
    return x_BTD + mlp(parameters["mlp"], layer_norm(parameters["norm2"], x_BTD, EPSILON), approximate=True)


def forward(dims, parameters, tokens):
    embedding_VD = parameters["tokens"]["weight"]
    positions_TD = parameters["positions"]["weight"][: dims["seq"]]
    x_BTD = embedding_VD[tokens] + positions_TD
    # In odd layers a token attends to a window: itself and tokens just before it. A window as long as the sequence
    # leaves out nothing.
    local = dims["window"] - 1 if dims["window"] < dims["seq"] else None
    for layer in range(dims["layers"]):
        before = local if layer % 2 else None
        x_BTD = block(parameters["blocks"][str(layer)], x_BTD, dims["heads"], before)
    x_BTD = layer_norm(parameters["norm"], x_BTD, EPSILON)
    # The head is the embedding again. An einsum, because op by op `.T` would copy the embedding.
    return jnp.einsum("BTD,VD->BTV", x_BTD, embedding_VD)


def loss(dims, parameters, tokens, target):
    return cross_entropy(forward(dims, parameters, tokens), target)
