"""llama in JAX.

Legend: B = batch, S = seq, D = width, N = heads, K = kv_heads, H = D/N, R = H/2 rotary pairs, F = hidden, V = vocab.
"""

import jax
import jax.numpy as jnp
import numpy as np

from suite.workloads.layers.layers_jax import cross_entropy

EPSILON = 1e-5
ROPE_THETA, ROPE_FACTOR, LOW_TURNS, HIGH_TURNS, ORIGINAL_CONTEXT = 500000.0, 8.0, 1.0, 4.0, 8192


def rotary_tables(seq, head_width):
    """Returns cosines and sines of the rotary angle of each pair of elements (i, i + H/2) at each position, with the
    scaling of Llama 3.1."""
    # The dims are known while tracing, so NumPy can compute this.
    frequencies_R = ROPE_THETA ** (-np.arange(0, head_width, 2) / head_width)
    turns_R = ORIGINAL_CONTEXT * frequencies_R / (2 * np.pi)
    kept_R = np.clip((turns_R - LOW_TURNS) / (HIGH_TURNS - LOW_TURNS), 0.0, 1.0)
    frequencies_R *= kept_R + (1.0 - kept_R) / ROPE_FACTOR
    angles_SR = jnp.arange(seq, dtype=jnp.float32)[:, None] * jnp.asarray(frequencies_R, jnp.float32)
    return jnp.cos(angles_SR), jnp.sin(angles_SR)


def rotate(x_BSNH, cos_SR, sin_SR):
    """Rotates each pair of elements (i, i + H/2) by the angle of its position."""
    a_BSNR, b_BSNR = jnp.split(x_BSNH, 2, axis=-1)
    cos_S1R, sin_S1R = cos_SR[:, None], sin_SR[:, None]
    return jnp.concatenate([a_BSNR * cos_S1R - b_BSNR * sin_S1R, b_BSNR * cos_S1R + a_BSNR * sin_S1R], axis=-1)


@jax.named_scope("rms_norm")
def rms_norm(parameters, x_BSD):
    mean_BS1 = jnp.mean(jnp.square(x_BSD), axis=-1, keepdims=True)
    return x_BSD * jax.lax.rsqrt(mean_BS1 + EPSILON) * parameters["weight"]


def attention(dims, parameters, x_BSD, tables):
    B, S, D = x_BSD.shape
    N, K, H = dims["heads"], dims["kv_heads"], D // dims["heads"]
    q_BSNH = (x_BSD @ parameters["query"]["weight"]).reshape(B, S, N, H)
    k_BSKH = (x_BSD @ parameters["key"]["weight"]).reshape(B, S, K, H)
    v_BSKH = (x_BSD @ parameters["value"]["weight"]).reshape(B, S, K, H)
    q_BSNH, k_BSKH = rotate(q_BSNH, *tables), rotate(k_BSKH, *tables)
    o_BSNH = jax.nn.dot_product_attention(q_BSNH, k_BSKH, v_BSKH, is_causal=True)
    return o_BSNH.reshape(B, S, D) @ parameters["out"]["weight"]


def mlp(parameters, x_BSD):
    gate_BSF = jax.nn.silu(x_BSD @ parameters["gate"]["weight"])
    return (gate_BSF * (x_BSD @ parameters["up"]["weight"])) @ parameters["down"]["weight"]


def block(dims, parameters, x_BSD, tables):
    x_BSD += attention(dims, parameters["attention"], rms_norm(parameters["attention_norm"], x_BSD), tables)
    x_BSD += mlp(parameters["mlp"], rms_norm(parameters["mlp_norm"], x_BSD))
    return x_BSD


def forward(dims, parameters, tokens):
    x_BSD = parameters["tokens"]["weight"][tokens]
    # Cast to the type that the model computes in: float32 tables would make queries and keys float32 too.
    tables = [t.astype(x_BSD.dtype) for t in rotary_tables(tokens.shape[1], dims["width"] // dims["heads"])]
    for layer in range(dims["layers"]):
        x_BSD = block(dims, parameters["blocks"][str(layer)], x_BSD, tables)
    return rms_norm(parameters["norm"], x_BSD) @ parameters["head"]["weight"]


def loss(dims, parameters, tokens, target):
    return cross_entropy(forward(dims, parameters, tokens), target)
