# /// script
# requires-python = ">=3.11"
# dependencies = ["torchvision"]
# ///
"""How fast is segmentation with a MobileNet on each stack, with the images scaled up at the end?"""

import torch

from suite.ask import integers, normal


def inputs(batch=2, side=112):
    return {"input": normal(batch, 3, side, side), "label": integers(batch, side, side, high=19)}


def torch_model():
    import torchvision

    return torchvision.models.segmentation.lraspp_mobilenet_v3_large(weights_backbone=None, num_classes=19)


def loss(outputs, label):
    return torch.nn.functional.cross_entropy(outputs["out"], label)


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)
