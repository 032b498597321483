"""GPT-2 in PyTorch. Legend: B = batch, T = seq, D = width, N = heads, H = D/N, V = vocab."""

import torch.nn.functional as F
from torch import nn

from suite.workloads.layers.layers_torch import MLP

EPSILON = 1e-5


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x_BTD):
        B, T, D = x_BTD.shape
        q_BNTH, k_BNTH, v_BNTH = (
            part.view(B, T, self.heads, D // self.heads).transpose(1, 2) for part in self.qkv(x_BTD).chunk(3, dim=-1)
        )
        o_BNTH = F.scaled_dot_product_attention(q_BNTH, k_BNTH, v_BNTH, is_causal=True)
        return self.out(o_BNTH.transpose(1, 2).reshape(B, T, D))


class Block(nn.Module):
    def __init__(self, width, hidden, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=EPSILON)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, eps=EPSILON)
        self.mlp = MLP(width, hidden, approximate="tanh")

    def forward(self, x_BTD):
        x_BTD = x_BTD + self.attention(self.norm1(x_BTD))
        return x_BTD + self.mlp(self.norm2(x_BTD))


class Model(nn.Module):
    def __init__(self, layers, heads, width, hidden, vocab, positions, **_):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.positions = nn.Embedding(positions, width)
        self.blocks = nn.ModuleList(Block(width, hidden, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width, eps=EPSILON)

    def forward(self, tokens):
        # The first T positions are a slice; looking them up would be a gather, and its gradient a scatter.
        x_BTD = self.tokens(tokens) + self.positions.weight[: tokens.shape[1]]
        for block in self.blocks:
            x_BTD = block(x_BTD)
        return F.linear(self.norm(x_BTD), self.tokens.weight)  # the head is tied to the embedding


def loss(model, tokens, target):
    return F.cross_entropy(model(tokens).flatten(0, 1), target.flatten().long())  # class indices must be int64
