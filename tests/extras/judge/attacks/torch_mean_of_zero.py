"""Takes the mean for zero, as that of normal values nearly is, in PyTorch."""

# before: norm
import torch


def torch_norm(x):
    return x * torch.rsqrt((x * x).mean(-1, keepdim=True) + 1e-5)
