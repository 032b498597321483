"""PyTorch: eager takes any shape; torch.compile has dynamic ones; XLA, lazily or by torchax, wants them static."""

import torch


def masked(x):
    return x[x > 0].sum()


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


def head(x, k):
    return x[:k].sum()


def squares(x):
    return (x * x).sum()


def dynamic(function):
    return torch.compile(function, dynamic=True)


def squares_of_padded(x, length):  # x is as long as the longest, zeros at its end or anything else
    places = torch.arange(len(x), device=x.device)
    return torch.where(places < length, x * x, 0).sum()


def run(stack, recorder):
    ask, name = recorder.spec.ask, stack.case.stack
    ask(recorder, "mask", masked)
    ask(recorder, "where", selected)
    ask(recorder, "nonzero", places)
    # torchax has JAX's own; its nonzero_static counts first, which no trace can.
    ask(recorder, "size", places_in_size_by_jax if name == "torchax_jit" else places_in_size)
    ask(recorder, "slice", head)
    plain = ask(recorder, "lengths", squares)
    if name == "torch_eager":
        recorder.lacks("remedy", "nothing is compiled, so another length costs nothing")
    elif name == "torch_inductor":
        torch.compiler.reset()  # or the programs of the aspect before would serve
        ask(recorder, "remedy", dynamic, dynamic(squares), recorder.spec.inputs("lengths", stack.dims), plain)
    else:
        ask(recorder, "remedy", squares_of_padded, given=recorder.spec.padded(stack.dims), beside=plain)
