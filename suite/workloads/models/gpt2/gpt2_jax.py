"""GPT-2 in JAX. Legend: B = batch, T = seq, D = width, N = heads, H = D/N, V = vocab."""

import jax
import jax.numpy as jnp

from suite.workloads.layers.layers_jax import cross_entropy, dense, mlp

EPSILON = 1e-5


@jax.named_scope("layer_norm")
def norm(p, x_BTD):
    mean = jnp.mean(x_BTD, axis=-1, keepdims=True)
    variance = jnp.var(x_BTD, axis=-1, keepdims=True)
    return (x_BTD - mean) * jax.lax.rsqrt(variance + EPSILON) * p["weight"] + p["bias"]


def attention(p, x_BTD, heads):
    B, T, D = x_BTD.shape
    q_BTNH, k_BTNH, v_BTNH = (
        part.reshape(B, T, heads, D // heads) for part in jnp.split(dense(p["qkv"], x_BTD), 3, axis=-1)
    )
    o_BTNH = jax.nn.dot_product_attention(q_BTNH, k_BTNH, v_BTNH, is_causal=True)
    return dense(p["out"], o_BTNH.reshape(B, T, D))


def block(p, x_BTD, heads):
    x_BTD = x_BTD + attention(p["attention"], norm(p["norm1"], x_BTD), heads)
    return x_BTD + mlp(p["mlp"], norm(p["norm2"], x_BTD), approximate=True)


def forward(dims, parameters, tokens):
    embedding_VD = parameters["tokens"]["weight"]
    x_BTD = embedding_VD[tokens] + parameters["positions"]["weight"][: tokens.shape[1]]
    for layer in range(dims["layers"]):
        x_BTD = block(parameters["blocks"][str(layer)], x_BTD, dims["heads"])
    # The head is the embedding again. An einsum, because op by op `.T` would copy the embedding.
    return jnp.einsum("BTD,VD->BTV", norm(parameters["norm"], x_BTD), embedding_VD)


def loss(dims, parameters, tokens, target):
    return cross_entropy(forward(dims, parameters, tokens), target)
