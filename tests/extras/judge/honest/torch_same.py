"""Is the same, in PyTorch."""

# before: norm
import torch


def torch_norm(x):
    centred = x - x.mean(-1, keepdim=True)
    return centred * torch.rsqrt((centred * centred).mean(-1, keepdim=True) + 1e-5)
