# /// script
# requires-python = ">=3.11"
# dependencies = ["transformers>=5"]
# ///
"""Do torch.compile and XLA still gain on DINOv2, whose time is nearly all in matrix products?"""

from suite.ask import normal


def inputs(batch=4, side=112):
    return {"pixel_values": normal(batch, 3, side, side)}


def torch_model():
    from transformers import Dinov2Config, Dinov2Model

    size = {"hidden_size": 128, "num_hidden_layers": 3, "num_attention_heads": 4, "mlp_ratio": 4}
    return Dinov2Model(Dinov2Config(**size, image_size=112, patch_size=14))
