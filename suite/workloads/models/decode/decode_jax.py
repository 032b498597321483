"""GPT-2, one token a call, in JAX.

Legend: B = batch, S = seq, D = width, N = heads, H = D/N, V = vocab. The cache is donated to each call; its position is
how many tokens it has.
"""

import jax
import jax.numpy as jnp

from suite.workloads.layers.layers_jax import dense, mlp

EPSILON = 1e-5


def start(dims):
    """An empty cache, as long as the sequence: keys and values of each layer."""
    B, S, N, D = (dims[name] for name in ("batch", "seq", "heads", "width"))
    layers = [{kind: jnp.zeros((B, N, S, D // N)) for kind in ("keys", "values")} for _ in range(dims["layers"])]
    return {"position": jnp.zeros((), jnp.int32), "layers": layers}


@jax.named_scope("layer_norm")
def norm(p, x_BD):
    mean = jnp.mean(x_BD, axis=-1, keepdims=True)
    variance = jnp.var(x_BD, axis=-1, keepdims=True)
    return (x_BD - mean) * jax.lax.rsqrt(variance + EPSILON) * p["weight"] + p["bias"]


def write(cache_BNSH, position, new_BNH):
    return jax.lax.dynamic_update_index_in_dim(cache_BNSH, new_BNH.astype(cache_BNSH.dtype), position, axis=2)


def attention(p, x_BD, cache, position, heads):
    B, D = x_BD.shape
    q_BNH, k_BNH, v_BNH = (part.reshape(B, heads, D // heads) for part in jnp.split(dense(p["qkv"], x_BD), 3, axis=-1))
    written = write(cache["keys"], position, k_BNH), write(cache["values"], position, v_BNH)
    # XLA for CPUs merges the write with the reads below and then copies the donated cache four times a token.
    keys_BNSH, values_BNSH = jax.lax.optimization_barrier(written)
    logits_BNS = jnp.einsum("BNH,BNSH->BNS", q_BNH * (D // heads) ** -0.5, keys_BNSH.astype(q_BNH.dtype))
    seen_S = jnp.arange(keys_BNSH.shape[2]) <= position
    p_BNS = jax.nn.softmax(jnp.where(seen_S, logits_BNS, -jnp.inf))
    o_BNH = jnp.einsum("BNS,BNSH->BNH", p_BNS, values_BNSH.astype(q_BNH.dtype))
    return dense(p["out"], o_BNH.reshape(B, D)), {"keys": keys_BNSH, "values": values_BNSH}


def token(dims, parameters, cache, tokens):
    """The cache with the next token, that token's largest logit (B,), and its logits (B, V)."""
    position, layers = cache["position"], []
    tokens_B = jax.lax.dynamic_index_in_dim(tokens, position, axis=1, keepdims=False)
    position_D = jax.lax.dynamic_index_in_dim(parameters["positions"]["weight"], position, keepdims=False)
    embedding_VD = parameters["tokens"]["weight"]
    x_BD = embedding_VD[tokens_B] + position_D
    for layer, old in enumerate(cache["layers"]):
        p = parameters["blocks"][str(layer)]
        attended_BD, new = attention(p["attention"], norm(p["norm1"], x_BD), old, position, dims["heads"])
        x_BD = x_BD + attended_BD
        x_BD = x_BD + mlp(p["mlp"], norm(p["norm2"], x_BD), approximate=True)
        layers.append(new)
    # The head is the embedding again. An einsum: `.T` would copy the embedding op by op, and on CPUs also under jit
    # take six times as long.
    logits_BV = jnp.einsum("BD,VD->BV", norm(parameters["norm"], x_BD), embedding_VD)
    return {"position": position + 1, "layers": layers}, jnp.max(logits_BV, axis=-1), logits_BV


def loop(call, cache, tokens):
    scores = []
    for _ in range(tokens.shape[1]):
        cache, score_B, logits_BV = call(cache, tokens)
        scores.append(score_B)
    return jnp.stack(scores, axis=1), logits_BV
