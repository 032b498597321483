# /// script
# requires-python = ">=3.11"
# dependencies = ["torchvision"]
# ///
"""Shuffled channels are only moved memory: which compiler leaves ShuffleNet's copies out?"""

import torch

from suite.ask import integers, normal


def inputs(batch=8, side=112):
    return {"x": normal(batch, 3, side, side), "label": integers(batch, high=10)}


def torch_model():
    import torchvision

    return torchvision.models.shufflenet_v2_x0_5(num_classes=10)


def loss(outputs, label):
    return torch.nn.functional.cross_entropy(outputs, label.long())


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)
