"""PyTorch: a tensor of one integer is read where a size is asked for, unless it is traced."""

import torch


def zeros(like, count):
    return like.new_zeros(count)


def reshaped(x):
    return x.reshape(torch.tensor(x.shape, device=x.device).prod())


def run(stack, recorder):
    spec = recorder.spec
    spec.ask(recorder, "zeros", zeros)
    if stack.case.stack == "torch_inductor":
        torch.compiler.reset()  # or it would know by now that the length varies
    spec.ask(recorder, "static", zeros)
    spec.ask(recorder, "reshape", reshaped)
    spec.ask(recorder, "python", spec.reshaped_by_python)
