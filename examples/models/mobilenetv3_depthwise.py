# /// script
# requires-python = ">=3.11"
# dependencies = ["timm"]
# ///
"""Depthwise convolutions do little work for each byte: which stack runs MobileNetV3 fastest?"""

from suite.ask import normal


def inputs(batch=4, side=112):
    return {"x": normal(batch, 3, side, side)}


def torch_model():
    import timm

    return timm.create_model("mobilenetv3_small_100", num_classes=10)
