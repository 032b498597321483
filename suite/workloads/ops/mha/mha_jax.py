"""mha in JAX. Legend: B = batch, S = seq, D = width, N = heads, H = D/N."""

import jax
import jax.numpy as jnp


def forward(dims, parameters, x):
    qkv, out = parameters["qkv"], parameters["out"]
    B, S, D = x.shape
    heads = dims["heads"]
    qkv_BS3NH = (x @ qkv["weight"] + qkv["bias"]).reshape(B, S, 3, heads, D // heads)
    q_BSNH, k_BSNH, v_BSNH = jnp.moveaxis(qkv_BS3NH, 2, 0)
    o_BSD = jax.nn.dot_product_attention(q_BSNH, k_BSNH, v_BSNH).reshape(B, S, D)
    return o_BSD @ out["weight"] + out["bias"]


def loss(dims, parameters, x, target):
    return jnp.mean(jnp.square(forward(dims, parameters, x) - target))
