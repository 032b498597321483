"""softmax in PyTorch."""

import torch
import torch.nn.functional as F
from torch import nn


class Model(nn.Module):
    def __init__(self, rows, columns):
        super().__init__()
        self.x = nn.Parameter(torch.empty(rows, columns))

    def forward(self):
        return F.softmax(self.x, dim=-1)


def loss(model, target):
    return F.mse_loss(model(), target)
