# /// script
# requires-python = ">=3.11"
# dependencies = ["transformers>=5"]
# ///
"""What do convolutions between attention layers cost SegFormer on each stack?"""

import torch

from suite.ask import integers, normal


def inputs(batch=2, side=96):
    return {"pixel_values": normal(batch, 3, side, side), "labels": integers(batch, side, side, high=20, dtype="int64")}


def torch_model():
    from transformers import SegformerConfig, SegformerForSemanticSegmentation

    size = {"hidden_sizes": [16, 32, 64, 128], "depths": [1, 1, 1, 1], "decoder_hidden_size": 64}
    return SegformerForSemanticSegmentation(SegformerConfig(**size, num_labels=20))


def loss(outputs):
    return outputs["loss"]


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)
