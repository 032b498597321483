"""What several models compute alike, in JAX.

Legend: B = batch, S = seq, D = width, F = hidden, N = heads, H = D/N.
"""

import jax
import jax.numpy as jnp


def dense(parameters, x):
    return x @ parameters["weight"] + parameters["bias"]


@jax.named_scope("layer_norm")
def layer_norm(parameters, x, epsilon):
    centered = x - jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean(jnp.square(centered), axis=-1, keepdims=True)
    return centered * jax.lax.rsqrt(variance + epsilon) * parameters["weight"] + parameters["bias"]


def attention(parameters, x_BSD, heads):
    """Every token attends to all."""
    B, S, D = x_BSD.shape
    q_BSNH, k_BSNH, v_BSNH = (
        dense(parameters[name], x_BSD).reshape(B, S, heads, D // heads) for name in ("query", "key", "value")
    )
    o_BSNH = jax.nn.dot_product_attention(q_BSNH, k_BSNH, v_BSNH)
    return dense(parameters["out"], o_BSNH.reshape(B, S, D))


def mlp(parameters, x_BSD, approximate):
    """GELU is the tanh form if `approximate`, else by erf."""
    h_BSF = jax.nn.gelu(dense(parameters["up"], x_BSD), approximate=approximate)
    return dense(parameters["down"], h_BSF)


def cross_entropy(logits, target):
    """The mean over all targets; the classes are the last axis of the logits."""
    logits = logits.astype(jnp.float32)
    # -log softmax at the target, without an array of log-probabilities.
    right = jnp.take_along_axis(logits, target[..., None], axis=-1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits, axis=-1) - right)
