"""Is a product of int8 matrices, summed in int32, faster than one in float32 on a CPU? pytorch/pytorch#72408"""

import jax.numpy as jnp
import numpy as np
import torch

from suite.ask import integers


def inputs(n=512):
    return {name: integers(n, n, low=-100, high=100, dtype="int8") for name in "ab"}


def numpy_wide(a, b):
    return a.astype(np.int32) @ b.astype(np.int32)


def jax_int8(a, b):
    return jnp.matmul(a, b, preferred_element_type=jnp.int32)


def torch_int8(a, b):
    return torch._int_mm(a, b)


def torch_float(a, b):
    return (a.float() @ b.float()).to(torch.int32)
