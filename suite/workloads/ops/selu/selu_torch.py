"""selu in PyTorch. `F.elu` is one kernel; `F.selu` has other constants.

PyTorch/XLA 2.9 computes the gradient of ELU wrongly, so its train step ends as `wrong`: see docs/why/method.md.
"""

import torch
import torch.nn.functional as F
from torch import nn

ALPHA = 1.67
LAMBDA = 1.05


class Model(nn.Module):
    def __init__(self, n):
        super().__init__()
        self.x = nn.Parameter(torch.empty(n, n))

    def forward(self):
        return LAMBDA * F.elu(self.x, ALPHA)


def loss(model, target):
    return F.mse_loss(model(), target)
