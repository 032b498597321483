# /// script
# requires-python = ">=3.11"
# dependencies = ["timm"]
# ///
"""Is EfficientViT's linear attention as fast under XLA as its authors found it under PyTorch?"""

from suite.ask import normal


def inputs(batch=2, side=112):
    return {"x": normal(batch, 3, side, side)}


def torch_model():
    import timm

    return timm.create_model("efficientvit_b0", num_classes=10)
