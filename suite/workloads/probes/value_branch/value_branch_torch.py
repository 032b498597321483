"""PyTorch: Python waits for the value, or torch.compile breaks its graph; `torch.cond` has both branches in it."""

import torch


def python_if(x):
    if x.sum() > 0:
        return x * 2
    return x - 1


def static_if(x, double):
    if double:
        return x * 2
    return x - 1


def cond(x):
    return torch.cond(x.sum() > 0, doubled, lessened, (x,))


def cond_by_jax(x):
    import jax
    from torchax.interop import call_jax

    return call_jax(jax.lax.cond, x.sum() > 0, doubled, lessened, x)


def doubled(x):
    return x * 2


def lessened(x):
    return x - 1


def lazily():
    """Scalars that PyTorch/XLA's Python side has waited for."""
    from torch_xla.debug import metrics

    return {"reads": metrics.counter_value("aten::_local_scalar_dense") or 0}


def dynamo():
    """Breaks of every kind, of which its counters leave some out, and functions that it gave up."""
    from torch._dynamo.utils import counters, graph_break_reasons

    frames = counters["frames"]
    return {"graph_breaks": len(graph_break_reasons), "skipped": frames["total"] - frames["ok"]}


COUNTERS = {"torch_xla": lazily, "torch_inductor": dynamo}


def run(stack, recorder):
    ask, name = recorder.spec.ask, stack.case.stack
    counted = {"count": COUNTERS[name]} if name in COUNTERS else {}
    ask(stack, recorder, "static", static_if, doubled, **counted)  # first: the others have the same branches
    ask(stack, recorder, "python_if", python_if, doubled, **counted)
    if name == "torchax_jit":  # it has no lowering of torch.cond; its way is to call JAX's
        ask(stack, recorder, "remedy", cond_by_jax, doubled)
    else:
        ask(stack, recorder, "remedy", cond, doubled, **counted)
