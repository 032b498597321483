"""Is a depthwise convolution slow in JAX on a CPU? jax-ml/jax#23713"""

import jax
import jax.numpy as jnp
import tensorflow as tf
import torch

from suite.ask import normal


def inputs(batch=4, side=56, channels=64):
    return {"x": normal(batch, channels, side, side), "w": normal(channels, 1, 3, 3, sigma=1 / 3)}


def torch_grouped(x, w):
    return torch.nn.functional.conv2d(x, w, padding=1, groups=x.shape[1])


def jax_grouped(x, w):
    return jax.lax.conv_general_dilated(
        x, w, (1, 1), "SAME", dimension_numbers=("NCHW", "OIHW", "NCHW"), feature_group_count=x.shape[1]
    )


def jax_shifted_products(x, w):
    padded, (rows, columns) = jnp.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1))), x.shape[2:]
    return sum(padded[..., i : i + rows, j : j + columns] * w[..., i, j, None] for i in range(3) for j in range(3))


def tf_depthwise(x, w):
    y = tf.nn.depthwise_conv2d(tf.transpose(x, [0, 2, 3, 1]), tf.transpose(w, [2, 3, 0, 1]), [1, 1, 1, 1], "SAME")
    return tf.transpose(y, [0, 3, 1, 2])
