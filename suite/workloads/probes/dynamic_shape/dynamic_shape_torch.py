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


def dynamo():
    """Breaks of every kind, of which its counters leave some out, and functions that it gave up."""
    from torch._dynamo.utils import counters, graph_break_reasons

    frames = counters["frames"]
    return {"graph_breaks": len(graph_break_reasons), "skipped": frames["total"] - frames["ok"]}


def run(stack, recorder):
    name = stack.case.stack
    counted = {"count": dynamo} if name == "torch_inductor" else {}

    def ask(aspect, code, *arguments, **named):
        return recorder.spec.ask(stack, recorder, aspect, code, *arguments, **counted, **named)

    ask("mask", masked)
    ask("where", selected)
    ask("nonzero", places)
    # torchax has JAX's own; its nonzero_static counts first, which no trace can.
    ask("size", places_in_size_by_jax if name == "torchax_jit" else places_in_size)
    ask("slice", head)
    plain = ask("lengths", squares)
    if name == "torch_eager":
        recorder.lacks("remedy", "nothing is compiled, so another length costs nothing")
    elif name == "torch_inductor":
        torch.compiler.reset()  # or the programs of the aspect before would serve
        ask("remedy", dynamic, dynamic(squares), recorder.spec.inputs("lengths", stack.dims), plain)
    else:
        ask("remedy", squares_of_padded, calls=recorder.spec.padded(stack.dims), beside=plain)
