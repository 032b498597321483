# /// script
# requires-python = ">=3.11"
# dependencies = ["timm"]
# ///
"""Is ConvNeXt held back by its layer norms over channels, and does a compiler fuse them?"""

from suite.ask import normal


def inputs(batch=2, side=112):
    return {"x": normal(batch, 3, side, side)}


def torch_model():
    import timm

    return timm.create_model("convnext_atto", num_classes=10)
