"""GPT-Neo in PyTorch.

Legend: B = batch, T = S = seq (of queries and of keys), D = width, N = heads, H = D/N, V = vocab.
"""

import torch
import torch.nn.functional as F
from torch import nn

from suite.workloads.layers.layers_torch import MLP

EPSILON = 1e-5


class Attention(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, width, bias=False)
        self.value = nn.Linear(width, width, bias=False)
        self.out = nn.Linear(width, width)

    def forward(self, x_BTD, mask_TS):
        """Causal if `mask_TS` is None; else the mask is True where a query attends to a key."""
        B, T, D = x_BTD.shape
        q_BNTH, k_BNTH, v_BNTH = (
            project(x_BTD).view(B, T, self.heads, D // self.heads).transpose(1, 2)
            for project in (self.query, self.key, self.value)
        )
        o_BNTH = F.scaled_dot_product_attention(
            q_BNTH,
            k_BNTH,
            v_BNTH,
            attn_mask=mask_TS,
            is_causal=mask_TS is None,
            scale=1.0,  # GPT-Neo doesn't scale its logits
        )
        return self.out(o_BNTH.transpose(1, 2).reshape(B, T, D))


class Block(nn.Module):
    def __init__(self, width, hidden, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=EPSILON)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, eps=EPSILON)
        self.mlp = MLP(width, hidden, approximate="tanh")

    def forward(self, x_BTD, mask_TS):
        x_BTD = x_BTD + self.attention(self.norm1(x_BTD), mask_TS)
        return x_BTD + self.mlp(self.norm2(x_BTD))


class Model(nn.Module):
    def __init__(self, layers, heads, width, hidden, vocab, positions, window, **_):
        super().__init__()
        self.window = window
        self.tokens = nn.Embedding(vocab, width)
        self.positions = nn.Embedding(positions, width)
        self.blocks = nn.ModuleList(Block(width, hidden, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width, eps=EPSILON)

    def local_mask(self, seq, device):
        """Returns the mask by which a token attends to itself and the window - 1 tokens before it; None if that is all
        earlier tokens, since plain causal attention is faster."""
        if self.window >= seq:
            return None
        places_T = torch.arange(seq, device=device)
        back_TS = places_T[:, None] - places_T
        return (back_TS >= 0) & (back_TS < self.window)

    def forward(self, tokens):
        T = tokens.shape[1]
        # The first T positions are a slice; looking them up would be a gather, and its gradient a scatter.
        x_BTD = self.tokens(tokens) + self.positions.weight[:T]
        local_TS = self.local_mask(T, tokens.device)
        for layer, block in enumerate(self.blocks):
            x_BTD = block(x_BTD, local_TS if layer % 2 else None)  # odd layers are local
        return F.linear(self.norm(x_BTD), self.tokens.weight)  # the head is the embedding again


def loss(model, tokens, target):
    logits_BTV = model(tokens)
    return F.cross_entropy(logits_BTV.flatten(0, 1), target.flatten().long())  # class indices must be int64
