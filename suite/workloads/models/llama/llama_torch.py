"""llama in PyTorch.

Legend: B = batch, S = seq, D = width, N = heads, K = kv_heads, H = D/N, R = H/2 rotary pairs.
"""

import math

import torch
import torch.nn.functional as F
from torch import nn

EPSILON = 1e-5
ROPE_THETA, ROPE_FACTOR, LOW_TURNS, HIGH_TURNS, ORIGINAL_CONTEXT = 500000.0, 8.0, 1.0, 4.0, 8192


def rotary_tables(seq, head_width, device):
    """Returns cosines and sines of the rotary angle of each pair of elements (i, i + H/2) at each position, with the
    scaling of Llama 3.1."""
    frequencies_R = ROPE_THETA ** (-torch.arange(0, head_width, 2, dtype=torch.float32, device=device) / head_width)
    turns_R = ORIGINAL_CONTEXT / (2 * math.pi) * frequencies_R
    kept_R = ((turns_R - LOW_TURNS) / (HIGH_TURNS - LOW_TURNS)).clamp(0.0, 1.0)
    frequencies_R = frequencies_R * (kept_R + (1.0 - kept_R) / ROPE_FACTOR)
    angles_SR = torch.outer(torch.arange(seq, dtype=torch.float32, device=device), frequencies_R)
    return angles_SR.cos(), angles_SR.sin()


def rotate(x_BNSH, cos_SR, sin_SR):
    """Rotates each pair of elements (i, i + H/2) by the angle of its position. The tables are float32; the result is
    cast back to x's type, so that queries and keys match the values."""
    a_BNSR, b_BNSR = x_BNSH.chunk(2, dim=-1)
    return torch.cat([a_BNSR * cos_SR - b_BNSR * sin_SR, b_BNSR * cos_SR + a_BNSR * sin_SR], dim=-1).to(x_BNSH.dtype)


class Attention(nn.Module):
    def __init__(self, width, heads, kv_heads):
        super().__init__()
        self.head_width = width // heads
        self.query = nn.Linear(width, width, bias=False)
        self.key = nn.Linear(width, kv_heads * self.head_width, bias=False)
        self.value = nn.Linear(width, kv_heads * self.head_width, bias=False)
        self.out = nn.Linear(width, width, bias=False)

    def forward(self, x_BSD, tables):
        q_BNSH, k_BKSH, v_BKSH = (
            part(x_BSD).unflatten(-1, (-1, self.head_width)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )
        o_BNSH = F.scaled_dot_product_attention(
            rotate(q_BNSH, *tables), rotate(k_BKSH, *tables), v_BKSH, is_causal=True, enable_gqa=True
        )
        return self.out(o_BNSH.transpose(1, 2).flatten(2))


class MLP(nn.Module):
    def __init__(self, width, hidden):
        super().__init__()
        self.gate = nn.Linear(width, hidden, bias=False)
        self.up = nn.Linear(width, hidden, bias=False)
        self.down = nn.Linear(hidden, width, bias=False)

    def forward(self, x_BSD):
        return self.down(F.silu(self.gate(x_BSD)) * self.up(x_BSD))


class Block(nn.Module):
    def __init__(self, width, heads, kv_heads, hidden):
        super().__init__()
        self.attention_norm = nn.RMSNorm(width, eps=EPSILON)
        self.attention = Attention(width, heads, kv_heads)
        self.mlp_norm = nn.RMSNorm(width, eps=EPSILON)
        self.mlp = MLP(width, hidden)

    def forward(self, x_BSD, tables):
        x_BSD = x_BSD + self.attention(self.attention_norm(x_BSD), tables)
        return x_BSD + self.mlp(self.mlp_norm(x_BSD))


class Model(nn.Module):
    def __init__(self, layers, heads, kv_heads, width, hidden, vocab, **_):
        super().__init__()
        self.head_width = width // heads
        self.tokens = nn.Embedding(vocab, width)
        self.blocks = nn.ModuleList(Block(width, heads, kv_heads, hidden) for _ in range(layers))
        self.norm = nn.RMSNorm(width, eps=EPSILON)
        self.head = nn.Linear(width, vocab, bias=False)

    def forward(self, tokens):
        tables = rotary_tables(tokens.shape[1], self.head_width, tokens.device)
        x_BSD = self.tokens(tokens)
        for block in self.blocks:
            x_BSD = block(x_BSD, tables)
        return self.head(self.norm(x_BSD))


def loss(model, tokens, target):
    return F.cross_entropy(model(tokens).flatten(0, 1), target.flatten().long())  # class indices must be int64
