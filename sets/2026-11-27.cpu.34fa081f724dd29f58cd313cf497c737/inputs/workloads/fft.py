"""Whose FFT is fastest on this machine: NumPy's pocketfft, MKL's in PyTorch, or DUCC's in JAX? jax-ml/jax#7490"""

import jax.numpy as jnp
import numpy as np
import tensorflow as tf
import torch

from suite.ask import normal


def inputs(rows=64, n=16_384):
    return {"x": normal(rows, n, dtype="complex64")}


def numpy_fft(x):
    return np.fft.fft(x)


def jax_fft(x):
    return jnp.fft.fft(x)


def torch_fft(x):
    return torch.fft.fft(x)


def tf_fft(x):
    return tf.signal.fft(x)
