"""GPT-Neo in JAX.

Legend: B = batch, T = seq, D = width, N = heads, H = D/N, V = vocab.
"""

import jax
import jax.numpy as jnp

EPSILON = 1e-5


def dense(parameters, x):
    return x @ parameters["weight"] + parameters["bias"]


@jax.named_scope("layer_norm")
def layer_norm(parameters, x_BTD):
    centred_BTD = x_BTD - jnp.mean(x_BTD, axis=-1, keepdims=True)
    variance_BT1 = jnp.mean(jnp.square(centred_BTD), axis=-1, keepdims=True)
    return centred_BTD * jax.lax.rsqrt(variance_BT1 + EPSILON) * parameters["weight"] + parameters["bias"]


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


def mlp(parameters, x_BTD):
    return dense(parameters["down"], jax.nn.gelu(dense(parameters["up"], x_BTD), approximate=True))


def block(parameters, x_BTD, heads, before):
    x_BTD = x_BTD + attention(parameters["attention"], layer_norm(parameters["norm1"], x_BTD), heads, before)
    return x_BTD + mlp(parameters["mlp"], layer_norm(parameters["norm2"], x_BTD))


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
    x_BTD = layer_norm(parameters["norm"], x_BTD)
    # The head is the embedding again. An einsum, because op by op `.T` would copy the embedding.
    return jnp.einsum("BTD,VD->BTV", x_BTD, embedding_VD)


def loss(dims, parameters, tokens, target):
    logits_BTV = forward(dims, parameters, tokens).astype(jnp.float32)
    # -log_softmax at the target alone: the other V - 1 log-probabilities are never written.
    wanted_BT = jnp.take_along_axis(logits_BTV, target[..., None], axis=-1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits_BTV, axis=-1) - wanted_BT)
