# /// script
# requires-python = ">=3.11"
# dependencies = ["timm"]
# ///
"""Is ConvNeXt held back by its layer norms over channels, and does a compiler fuse them?"""

import torch

from suite.ask import integers, normal


def inputs(batch=2, side=112):
    return {"x": normal(batch, 3, side, side), "label": integers(batch, high=10)}


def torch_model():
    import timm

    return timm.create_model("convnext_atto", num_classes=10)


def loss(outputs, label):
    return torch.nn.functional.cross_entropy(outputs, label.long())


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)
