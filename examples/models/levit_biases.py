# /// script
# requires-python = ">=3.11"
# dependencies = ["timm"]
# ///
"""LeViT keeps its attention biases between calls in evaluation: does that cost a compiler anything?"""

from suite.ask import normal


def inputs(batch=4):
    return {"x": normal(batch, 3, 224, 224)}


def torch_model():
    from timm.models.levit import Levit

    return Levit(embed_dim=(64, 96, 128), key_dim=16, depth=(2, 2, 2), num_heads=(2, 3, 4), num_classes=10)
