"""What several models compute alike, in PyTorch.

Legend: B = batch, S = seq, D = width, F = hidden, N = heads, H = D/N.
"""

import torch.nn.functional as F
from torch import nn


class Attention(nn.Module):
    """Every token attends to all."""

    def __init__(self, heads, width):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.out = nn.Linear(width, width)

    def forward(self, x_BSD):
        B, S, D = x_BSD.shape
        q_BNSH, k_BNSH, v_BNSH = (
            project(x_BSD).view(B, S, self.heads, D // self.heads).transpose(1, 2)
            for project in (self.query, self.key, self.value)
        )
        o_BNSH = F.scaled_dot_product_attention(q_BNSH, k_BNSH, v_BNSH)
        return self.out(o_BNSH.transpose(1, 2).reshape(B, S, D))


class MLP(nn.Module):
    """GELU is the form that `approximate` names: "tanh", or "none", which is by erf."""

    def __init__(self, width, hidden, approximate):
        super().__init__()
        self.up = nn.Linear(width, hidden)
        self.down = nn.Linear(hidden, width)
        self.approximate = approximate

    def forward(self, x_BSD):
        h_BSF = F.gelu(self.up(x_BSD), approximate=self.approximate)
        return self.down(h_BSF)
