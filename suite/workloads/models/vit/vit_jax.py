"""vit in JAX.

Legend: B = batch, I = image, h = w = patches per side, S = h*w + 1 tokens, D = width, F = hidden,
N = heads, H = D/N, C = classes.
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


def attention(parameters, x_BSD, heads):
    B, S, D = x_BSD.shape
    q_BSNH, k_BSNH, v_BSNH = (
        dense(parameters[name], x_BSD).reshape(B, S, heads, D // heads) for name in ("query", "key", "value")
    )
    o_BSNH = jax.nn.dot_product_attention(q_BSNH, k_BSNH, v_BSNH)
    return dense(parameters["out"], o_BSNH.reshape(B, S, D))


def mlp(parameters, x_BSD):
    x_BSF = jax.nn.gelu(dense(parameters["up"], x_BSD), approximate=False)  # by erf; the default is the tanh form
    return dense(parameters["down"], x_BSF)


def block(parameters, x_BSD, heads):
    x_BSD = x_BSD + attention(parameters["attention"], layer_norm(parameters["attention_norm"], x_BSD), heads)
    return x_BSD + mlp(parameters["mlp"], layer_norm(parameters["mlp_norm"], x_BSD))


def embed(parameters, image_BII3, patch):
    weight, bias = parameters["patches"]["weight"], parameters["patches"]["bias"]
    x_BhwD = jax.lax.conv_general_dilated(
        image_BII3, weight, (patch, patch), "VALID", dimension_numbers=("NHWC", "HWIO", "NHWC")
    )
    B, h, w, D = x_BhwD.shape
    x_BSD = (x_BhwD + bias).reshape(B, h * w, D)
    class_B1D = jnp.broadcast_to(parameters["class_token"], (B, 1, D))
    return jnp.concatenate([class_B1D, x_BSD], axis=1) + parameters["positions"]


def forward(dims, parameters, image):
    x_BSD = embed(parameters, image, dims["patch"])
    for layer in range(dims["layers"]):
        x_BSD = block(parameters["blocks"][str(layer)], x_BSD, dims["heads"])
    # The norm acts on each token separately, and only the class token is used, so only it is normalized.
    class_BD = layer_norm(parameters["norm"], x_BSD[:, 0])
    return dense(parameters["head"], class_BD)


def loss(dims, parameters, image, target):
    logits_BC = forward(dims, parameters, image).astype(jnp.float32)
    # -log softmax at the target, without an array of log-probabilities.
    right_B = jnp.take_along_axis(logits_BC, target[:, None], axis=-1)[:, 0]
    return jnp.mean(jax.nn.logsumexp(logits_BC, axis=-1) - right_B)
