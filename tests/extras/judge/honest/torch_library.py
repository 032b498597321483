"""The framework's own kernel, in PyTorch."""

# before: norm
import torch


def torch_norm(x):
    return torch.nn.functional.layer_norm(x, x.shape[-1:])
