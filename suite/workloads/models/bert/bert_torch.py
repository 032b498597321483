"""bert in PyTorch.

Legend: B = batch, S = seq, D = width, F = hidden, N = heads, H = D/N, V = vocab.
"""

import torch
import torch.nn.functional as F
from torch import nn

from suite.workloads.layers.layers_torch import MLP, Attention

EPSILON = 1e-12


class Block(nn.Module):
    def __init__(self, heads, width, hidden):
        super().__init__()
        self.attention = Attention(heads, width)
        self.attention_norm = nn.LayerNorm(width, EPSILON)
        self.mlp = MLP(width, hidden, approximate="none")
        self.mlp_norm = nn.LayerNorm(width, EPSILON)

    def forward(self, x_BSD):
        x_BSD = self.attention_norm(x_BSD + self.attention(x_BSD))
        return self.mlp_norm(x_BSD + self.mlp(x_BSD))


class Head(nn.Module):
    """Its last product is with the token embedding, which the model owns."""

    def __init__(self, width, vocab):
        super().__init__()
        self.dense = nn.Linear(width, width)
        self.norm = nn.LayerNorm(width, EPSILON)
        self.bias = nn.Parameter(torch.empty(vocab))

    def forward(self, x_BSD, table_VD):
        x_BSD = self.norm(F.gelu(self.dense(x_BSD)))
        return F.linear(x_BSD, table_VD, self.bias)


class Model(nn.Module):
    def __init__(self, layers, heads, width, hidden, vocab, positions, types, **_):
        super().__init__()
        self.tokens = nn.Embedding(vocab, width)
        self.positions = nn.Embedding(positions, width)
        self.types = nn.Embedding(types, width)
        self.embedding_norm = nn.LayerNorm(width, EPSILON)
        self.blocks = nn.ModuleList(Block(heads, width, hidden) for _ in range(layers))
        self.head = Head(width, vocab)

    def forward(self, tokens, types):
        S = tokens.shape[1]
        # Positions are always 0 to S - 1: a slice of the table, no lookup.
        x_BSD = self.embedding_norm(self.tokens(tokens) + self.types(types) + self.positions.weight[:S])
        for block in self.blocks:
            x_BSD = block(x_BSD)
        return self.head(x_BSD, self.tokens.weight)


def loss(model, tokens, types, target):
    logits_BSV = model(tokens, types)
    return F.cross_entropy(logits_BSV.flatten(0, 1), target.flatten().long())  # class indices must be int64
