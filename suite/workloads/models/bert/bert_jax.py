"""bert in JAX.

Legend: B = batch, S = seq, D = width, F = hidden, N = heads, H = D/N, V = vocab.
"""

import jax
import jax.numpy as jnp

from suite.workloads.layers.layers_jax import attention, cross_entropy, dense, layer_norm, mlp

EPSILON = 1e-12


def block(parameters, x_BSD, heads):
    attended_BSD = attention(parameters["attention"], x_BSD, heads)
    x_BSD = layer_norm(parameters["attention_norm"], x_BSD + attended_BSD, EPSILON)
    return layer_norm(parameters["mlp_norm"], x_BSD + mlp(parameters["mlp"], x_BSD, approximate=False), EPSILON)


def embed(parameters, tokens_BS, types_BS):
    S = tokens_BS.shape[1]
    tokens_BSD = parameters["tokens"]["weight"][tokens_BS]
    types_BSD = parameters["types"]["weight"][types_BS]
    positions_SD = parameters["positions"]["weight"][:S]
    return layer_norm(parameters["embedding_norm"], tokens_BSD + types_BSD + positions_SD, EPSILON)


def head(parameters, x_BSD, table_VD):
    x_BSD = jax.nn.gelu(dense(parameters["dense"], x_BSD), approximate=False)  # by erf; JAX's default is the tanh form
    x_BSD = layer_norm(parameters["norm"], x_BSD, EPSILON)
    # An einsum, because op by op `.T` would copy the table.
    return jnp.einsum("BSD,VD->BSV", x_BSD, table_VD) + parameters["bias"]


def forward(dims, parameters, tokens, types):
    x_BSD = embed(parameters, tokens, types)
    for layer in range(dims["layers"]):
        x_BSD = block(parameters["blocks"][str(layer)], x_BSD, dims["heads"])
    return head(parameters["head"], x_BSD, parameters["tokens"]["weight"])


def loss(dims, parameters, tokens, types, target):
    return cross_entropy(forward(dims, parameters, tokens, types), target)
