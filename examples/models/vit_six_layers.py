# /// script
# requires-python = ">=3.11"
# dependencies = ["timm"]
# ///
"""Does torch.compile make ViT's training step faster, and is XLA faster still?"""

import torch

from suite.ask import integers, normal


def inputs(batch=4, side=112):
    return {"x": normal(batch, 3, side, side), "label": integers(batch, high=10)}


def torch_model():
    import timm

    return timm.create_model("vit_tiny_patch16_224", num_classes=10, img_size=112, depth=6)


def loss(outputs, label):
    return torch.nn.functional.cross_entropy(outputs, label.long())


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)
