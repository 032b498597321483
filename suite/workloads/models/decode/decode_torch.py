"""GPT-2, one token a call, in PyTorch.

Legend: B = batch, S = seq, D = width, N = heads, H = D/N, V = vocab. Each call changes the cache in place; its position
is how many tokens it has.
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
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x_BD, cache, position, seen_1S):
        B, D = x_BD.shape
        q_BN1H, k_BN1H, v_BN1H = (
            part.view(B, self.heads, 1, D // self.heads) for part in self.qkv(x_BD).chunk(3, dim=-1)
        )
        keys_BNSH, values_BNSH = cache
        keys_BNSH.index_copy_(2, position, k_BN1H.to(keys_BNSH.dtype))
        values_BNSH.index_copy_(2, position, v_BN1H.to(values_BNSH.dtype))
        # Not every device's autocast casts the cache.
        keys_BNSH, values_BNSH = keys_BNSH.to(q_BN1H.dtype), values_BNSH.to(q_BN1H.dtype)
        o_BN1H = F.scaled_dot_product_attention(q_BN1H, keys_BNSH, values_BNSH, attn_mask=seen_1S)
        return self.out(o_BN1H.reshape(B, D))


class Block(nn.Module):
    def __init__(self, width, hidden, heads):
        super().__init__()
        self.norm1 = nn.LayerNorm(width, eps=EPSILON)
        self.attention = Attention(width, heads)
        self.norm2 = nn.LayerNorm(width, eps=EPSILON)
        self.mlp = MLP(width, hidden, approximate="tanh")

    def forward(self, x_BD, cache, position, seen_1S):
        x_BD = x_BD + self.attention(self.norm1(x_BD), cache, position, seen_1S)
        return x_BD + self.mlp(self.norm2(x_BD))


class Model(nn.Module):
    def __init__(self, layers, heads, width, hidden, vocab, positions, **_):
        super().__init__()
        self.head_shape = (heads, width // heads)
        self.tokens = nn.Embedding(vocab, width)
        self.positions = nn.Embedding(positions, width)
        self.blocks = nn.ModuleList(Block(width, hidden, heads) for _ in range(layers))
        self.norm = nn.LayerNorm(width, eps=EPSILON)

    def start(self, tokens):
        """An empty cache, as long as the sequence: the position, and the keys and values of each layer."""
        B, S = tokens.shape
        N, H = self.head_shape
        layers = [tuple(torch.zeros(B, N, S, H, device=tokens.device) for _ in range(2)) for _ in self.blocks]
        return torch.zeros(1, dtype=torch.int64, device=tokens.device), layers

    def forward(self, cache, tokens):
        """The cache with the next token, that token's largest logit (B,), and its logits (B, V)."""
        position, layers = cache
        x_BD = self.tokens(tokens.index_select(1, position).squeeze(1)) + self.positions(position)
        seen_1S = torch.arange(tokens.shape[1], device=tokens.device)[None] <= position
        for block, of_layer in zip(self.blocks, layers, strict=True):
            x_BD = block(x_BD, of_layer, position, seen_1S)
        logits_BV = F.linear(self.norm(x_BD), self.tokens.weight)  # the head is tied to the embedding
        position += 1
        return cache, logits_BV.amax(dim=-1), logits_BV


def loop(call, cache, tokens):
    scores = []
    for _ in range(tokens.shape[1]):
        cache, score_B, logits_BV = call(cache, tokens)
        scores.append(score_B)
    return torch.stack(scores, dim=1), logits_BV
