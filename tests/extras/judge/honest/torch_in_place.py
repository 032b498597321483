"""In place on an array of its own, in PyTorch."""

# before: norm
import torch


def torch_norm(x):
    centred = x - x.mean(-1, keepdim=True)
    scale = torch.rsqrt((centred * centred).mean(-1, keepdim=True) + 1e-5)
    return centred.mul_(scale)
