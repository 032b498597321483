"""By the framework's moments, in PyTorch."""

# before: norm
import torch


def torch_norm(x):
    variance, mean = torch.var_mean(x, -1, correction=0, keepdim=True)
    return (x - mean) * torch.rsqrt(variance + 1e-5)
