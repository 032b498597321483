"""PyTorch: a tensor of one integer is read where a size is asked for, unless it is traced."""

import math

import torch


def zeros(like, count):
    return like.new_zeros(count)


def reshaped(x):
    return x.reshape(torch.tensor(x.shape, device=x.device).prod())


def reshaped_by_python(x):
    return x.reshape(math.prod(x.shape))


def dynamo():
    """Breaks of every kind, of which its counters leave some out, and functions that it gave up."""
    from torch._dynamo.utils import counters, graph_break_reasons

    frames = counters["frames"]
    return {"graph_breaks": len(graph_break_reasons), "skipped": frames["total"] - frames["ok"]}


def run(stack, recorder):
    counted = {"count": dynamo} if stack.case.stack == "torch_inductor" else {}
    recorder.spec.ask(stack, recorder, "zeros", zeros, **counted)
    if counted:
        torch.compiler.reset()  # or it would know by now that the length varies
    recorder.spec.ask(stack, recorder, "static", zeros, **counted)
    recorder.spec.ask(stack, recorder, "reshape", reshaped, **counted)
    recorder.spec.ask(stack, recorder, "python", reshaped_by_python, **counted)
