"""vit in JAX.

Legend: B = batch, I = image, h = w = patches per side, S = h*w + 1 tokens, D = width, F = hidden,
N = heads, H = D/N, C = classes.
"""

import jax
import jax.numpy as jnp

from suite.workloads.layers.layers_jax import attention, cross_entropy, dense, layer_norm, mlp

EPSILON = 1e-12


def block(parameters, x_BSD, heads):
    x_BSD = x_BSD + attention(parameters["attention"], layer_norm(parameters["attention_norm"], x_BSD, EPSILON), heads)
    return x_BSD + mlp(parameters["mlp"], layer_norm(parameters["mlp_norm"], x_BSD, EPSILON), approximate=False)


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
    class_BD = layer_norm(parameters["norm"], x_BSD[:, 0], EPSILON)
    return dense(parameters["head"], class_BD)


def loss(dims, parameters, image, target):
    return cross_entropy(forward(dims, parameters, image), target)
