# /// script
# requires-python = ">=3.11"
# dependencies = ["timm"]
# ///
"""LeViT keeps its attention biases between calls in evaluation: does that cost a compiler anything?"""

import torch

from suite.ask import integers, normal


def inputs(batch=4):
    return {"x": normal(batch, 3, 224, 224), "label": integers(batch, high=10)}


def torch_model():
    from timm.models.levit import Levit

    return Levit(embed_dim=(64, 96, 128), key_dim=16, depth=(2, 2, 2), num_heads=(2, 3, 4), num_classes=10)


def loss(outputs, label):
    return torch.nn.functional.cross_entropy(outputs, label.long())


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)
