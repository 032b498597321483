"""A filter of images by FFT: is it slower compiled whole than operation by operation? jax-ml/jax#39081"""

import jax.numpy as jnp
import numpy as np
import torch

from suite.ask import normal


def inputs(batch=16, side=576):
    return {"x": normal(batch, side, side, dtype="complex64"), "kernel": normal(side, side, dtype="complex64")}


def numpy_filter(x, kernel):
    return np.fft.ifft2(np.fft.fft2(x) * kernel)


def jax_filter(x, kernel):
    return jnp.fft.ifft2(jnp.fft.fft2(x) * kernel)


def torch_filter(x, kernel):
    return torch.fft.ifft2(torch.fft.fft2(x) * kernel)
