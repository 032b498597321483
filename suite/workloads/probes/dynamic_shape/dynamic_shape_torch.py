"""PyTorch: eager takes any shape; torch.compile has dynamic shapes; PyTorch/XLA and torchax need static shapes."""

import torch


def selected(x):
    return torch.where(x > 0, x, 0).sum()


def places(x):
    return torch.nonzero(x > 0)


def places_in_size(x):
    return torch.nonzero_static(x > 0, size=len(x), fill_value=-1)


def places_in_size_by_jax(x):
    import jax.numpy as jnp
    from torchax.interop import call_jax

    return call_jax(jnp.nonzero, x > 0, size=len(x), fill_value=-1)[0]


def dynamic(function):
    return torch.compile(function, dynamic=True)


def squares_of_padded(x, length):  # x is padded to the greatest length, with any values
    places = torch.arange(len(x), device=x.device)
    return torch.where(places < length, x * x, 0).sum()


def run(stack, recorder):
    spec, observe, name = recorder.spec, recorder.spec.observe, stack.case.stack
    observe(recorder, "mask", spec.masked)
    observe(recorder, "where", selected)
    observe(recorder, "nonzero", places)
    # torchax calls JAX's nonzero: torchax's own nonzero_static counts the places first, which a trace can't do.
    observe(recorder, "size", places_in_size_by_jax if name == "torchax_jit" else places_in_size)
    observe(recorder, "slice", spec.head)
    plain = observe(recorder, "lengths", spec.squares)
    if name == "torch_eager":
        recorder.lacks("remedy", "nothing is compiled, so another length costs nothing")
    elif name == "torch_inductor":
        torch.compiler.reset()  # else the programs of the aspect before would be used
        observe(recorder, "remedy", dynamic, dynamic(spec.squares), spec.inputs("lengths", stack.dims), plain)
    else:
        observe(recorder, "remedy", squares_of_padded, given=spec.padded(stack.dims), beside=plain)
