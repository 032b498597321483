# /// script
# requires-python = ">=3.11"
# dependencies = ["timm"]
# ///
"""Depthwise convolutions do little work for each byte: which stack runs MobileNetV3 fastest?"""

import torch

from suite.ask import integers, normal


def inputs(batch=4, side=112):
    return {"x": normal(batch, 3, side, side), "label": integers(batch, high=10)}


def torch_model():
    import timm

    return timm.create_model("mobilenetv3_small_100", num_classes=10)


def loss(outputs, label):
    return torch.nn.functional.cross_entropy(outputs, label.long())


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)
