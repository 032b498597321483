# /// script
# requires-python = ">=3.11"
# dependencies = ["torchvision"]
# ///
"""Shuffled channels are only moved memory: which compiler leaves ShuffleNet's copies out?"""

from suite.ask import normal


def inputs(batch=8, side=112):
    return {"x": normal(batch, 3, side, side)}


def torch_model():
    import torchvision

    return torchvision.models.shufflenet_v2_x0_5(num_classes=10)
