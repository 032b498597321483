"""gemm in PyTorch."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, n, k=None):
        super().__init__()
        self.b = nn.Parameter(torch.empty(k or n, n))

    def forward(self, a):
        return a @ self.b


def loss(model, a, target):
    return F.mse_loss(model(a), target)
