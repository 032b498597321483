"""PyTorch: a tensor of one integer can be a size: PyTorch reads its value, unless it is traced."""

import torch


def zeros(like, count):
    return like.new_zeros(count)


def reshaped(x):
    return x.reshape(torch.tensor(x.shape, device=x.device).prod())


def run(stack, recorder):
    spec = recorder.spec
    spec.observe(recorder, "zeros", zeros)
    if stack.case.stack == "torch_inductor":
        torch.compiler.reset()  # else it would already know that the length varies
    spec.observe(recorder, "static", zeros)
    spec.observe(recorder, "reshape", reshaped)
    spec.observe(recorder, "python", spec.reshaped_by_python)
