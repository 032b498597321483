"""PyTorch: a tensor of one integer can be a size: PyTorch reads its value, unless it is traced."""

import torch


def zeros(like, count):
    return like.new_zeros(count)


def reshaped(x):
    return x.reshape(torch.tensor(x.shape, device=x.device).prod())


def run(stack, recorder):
    # Before static lengths Inductor forgets what it knows: that the length varies.
    forget = {"forget": torch.compiler.reset} if stack.case.stack == "torch_inductor" else {}
    recorder.spec.observe(recorder, zeros, reshaped, **forget)
