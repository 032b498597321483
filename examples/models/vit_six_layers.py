# /// script
# requires-python = ">=3.11"
# dependencies = ["timm"]
# ///
"""Does torch.compile make ViT's training step faster, and is XLA faster still?"""

from suite.ask import normal


def inputs(batch=4, side=112):
    return {"x": normal(batch, 3, side, side)}


def torch_model():
    import timm

    return timm.create_model("vit_tiny_patch16_224", num_classes=10, img_size=112, depth=6)
