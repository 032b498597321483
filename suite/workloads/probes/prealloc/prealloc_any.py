"""What makes a framework take its memory: its first array. Imports are inside the functions, since a fresh process runs
one of them and counts what the import takes."""


def first_array_numpy(target):
    import numpy as np

    return np.ones(1024, np.float32)


def first_array_jax(target):
    import jax.numpy as jnp

    return jnp.ones(1024).block_until_ready()


def first_array_torch(target):
    import torch

    return torch.ones(1024, device=target)


def first_array_xla(target):
    import torch
    import torch_xla

    x = torch.ones(1024, device=torch_xla.device())
    torch_xla.sync(wait=True)
    return x


def first_array_torchax(target):
    import torch
    import torchax

    torchax.enable_globally()
    return torch.ones(1024, device="jax").jax().block_until_ready()


def first_array_tf(target):
    import tensorflow as tf

    return tf.ones([1024])


# On a GPU, JAX takes three quarters of the memory at the first operation and TensorFlow nearly all of it, unless a
# variable prevents it. {stack, or dialect of all others: (module, code, that variable, why there is none)}
WAYS = {
    "numpy": ("numpy", first_array_numpy, {}, "NumPy takes memory an array at a time; there is nothing to turn off"),
    "jax": ("jax", first_array_jax, {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}),
    "torch": ("torch", first_array_torch, {}, "PyTorch takes memory as tensors need it; there is nothing to turn off"),
    "torch_xla": ("torch_xla", first_array_xla, {}, "PyTorch/XLA preallocates only on GPUs, which it has given up"),
    "torchax_jit": ("torchax", first_array_torchax, {"XLA_PYTHON_CLIENT_PREALLOCATE": "false"}),
    "tf": ("tensorflow", first_array_tf, {"TF_FORCE_GPU_ALLOW_GROWTH": "true"}),
}


def run(stack, recorder):
    way = WAYS.get(stack.case.stack) or WAYS.get(stack.family)
    if way is None:
        for aspect in ("default", "off"):
            recorder.lacks(aspect, f"it isn't known how {stack.family} makes its first array")
        return
    recorder.spec.observe(recorder, *way)
