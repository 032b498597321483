"""A transposed convolution: one operation in PyTorch, a convolution of a dilated image in JAX. jax-ml/jax#23783"""

import jax
import jax.numpy as jnp
import torch

from suite.ask import normal


def inputs(batch=4, side=28, channels=64, filters=32):
    return {"x": normal(batch, channels, side, side), "w": normal(channels, filters, 4, 4, sigma=0.05)}


def torch_conv_transpose(x, w):
    return torch.nn.functional.conv_transpose2d(x, w, stride=2, padding=1)


def jax_dilated(x, w):
    flipped = jnp.flip(w, (2, 3)).transpose(1, 0, 2, 3)
    return jax.lax.conv_general_dilated(
        x, flipped, (1, 1), [(2, 2), (2, 2)], lhs_dilation=(2, 2), dimension_numbers=("NCHW", "OIHW", "NCHW")
    )
