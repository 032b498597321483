"""bert in JAX.

Legend: B = batch, S = seq, D = width, F = hidden, N = heads, H = D/N, V = vocab.
"""

import jax
import jax.numpy as jnp

EPSILON = 1e-12


def dense(parameters, x):
    return x @ parameters["weight"] + parameters["bias"]


@jax.named_scope("layer_norm")
def layer_norm(parameters, x):
    centered = x - jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.mean(jnp.square(centered), axis=-1, keepdims=True)
    return centered * jax.lax.rsqrt(variance + EPSILON) * parameters["weight"] + parameters["bias"]


def gelu(x):
    return jax.nn.gelu(x, approximate=False)  # by erf; JAX's default is the tanh form


def attention(parameters, x_BSD, heads):
    B, S, D = x_BSD.shape
    q_BSNH, k_BSNH, v_BSNH = (
        dense(parameters[name], x_BSD).reshape(B, S, heads, D // heads) for name in ("query", "key", "value")
    )
    o_BSNH = jax.nn.dot_product_attention(q_BSNH, k_BSNH, v_BSNH)
    return dense(parameters["out"], o_BSNH.reshape(B, S, D))


def mlp(parameters, x_BSD):
    h_BSF = gelu(dense(parameters["up"], x_BSD))
    return dense(parameters["down"], h_BSF)


def block(parameters, x_BSD, heads):
    x_BSD = layer_norm(parameters["attention_norm"], x_BSD + attention(parameters["attention"], x_BSD, heads))
    return layer_norm(parameters["mlp_norm"], x_BSD + mlp(parameters["mlp"], x_BSD))


def embed(parameters, tokens_BS, types_BS):
    S = tokens_BS.shape[1]
    tokens_BSD = parameters["tokens"]["weight"][tokens_BS]
    types_BSD = parameters["types"]["weight"][types_BS]
    positions_SD = parameters["positions"]["weight"][:S]
    return layer_norm(parameters["embedding_norm"], tokens_BSD + types_BSD + positions_SD)


def head(parameters, x_BSD, table_VD):
    x_BSD = layer_norm(parameters["norm"], gelu(dense(parameters["dense"], x_BSD)))
    return x_BSD @ table_VD.T + parameters["bias"]


def forward(dims, parameters, tokens, types):
    x_BSD = embed(parameters, tokens, types)
    for layer in range(dims["layers"]):
        x_BSD = block(parameters["blocks"][str(layer)], x_BSD, dims["heads"])
    return head(parameters["head"], x_BSD, parameters["tokens"]["weight"])


def loss(dims, parameters, tokens, types, target):
    logits_BSV = forward(dims, parameters, tokens, types).astype(jnp.float32)
    # -log softmax at the target, without an array of log-probabilities.
    right_BS = jnp.take_along_axis(logits_BSV, target[..., None], axis=-1)[..., 0]
    return jnp.mean(jax.nn.logsumexp(logits_BSV, axis=-1) - right_BS)
