"""vit in PyTorch; the image is (B, 3, I, I), channels first, as nn.Conv2d needs it.

Legend: B = batch, I = image, h = w = patches per side, S = h*w + 1 tokens, D = width, F = hidden,
N = heads, H = D/N, C = classes.
"""

import torch
import torch.nn.functional as F
from torch import nn

from suite.workloads.layers.layers_torch import MLP, Attention

CHANNELS = 3
EPSILON = 1e-12


class Block(nn.Module):
    def __init__(self, heads, width, hidden):
        super().__init__()
        self.attention_norm = nn.LayerNorm(width, EPSILON)
        self.attention = Attention(heads, width)
        self.mlp_norm = nn.LayerNorm(width, EPSILON)
        self.mlp = MLP(width, hidden, approximate="none")

    def forward(self, x_BSD):
        x_BSD = x_BSD + self.attention(self.attention_norm(x_BSD))
        return x_BSD + self.mlp(self.mlp_norm(x_BSD))


class Model(nn.Module):
    def __init__(self, image, patch, layers, heads, width, hidden, classes, **_):
        super().__init__()
        seq = (image // patch) ** 2 + 1
        self.patches = nn.Conv2d(CHANNELS, width, patch, stride=patch)
        self.class_token = nn.Parameter(torch.empty(1, 1, width))
        self.positions = nn.Parameter(torch.empty(1, seq, width))
        self.blocks = nn.ModuleList(Block(heads, width, hidden) for _ in range(layers))
        self.norm = nn.LayerNorm(width, EPSILON)
        self.head = nn.Linear(width, classes)

    def forward(self, image):
        x_BDhw = self.patches(image)
        x_BSD = x_BDhw.flatten(2).transpose(1, 2)
        class_B1D = self.class_token.expand(x_BSD.shape[0], -1, -1)
        x_BSD = torch.cat([class_B1D, x_BSD], dim=1) + self.positions
        for block in self.blocks:
            x_BSD = block(x_BSD)
        # The norm acts on each token separately, and only the class token is used, so only it is normalized.
        class_BD = self.norm(x_BSD[:, 0])
        return self.head(class_BD)


def loss(model, image, target):
    logits_BC = model(image)
    return F.cross_entropy(logits_BC, target.long())  # class indices must be int64
