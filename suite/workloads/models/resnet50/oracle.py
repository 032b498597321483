"""Hugging Face's ResNetForImageClassification, which computes the golden files of `resnet50`
(tools/oracle.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

LAYERS = {"reduce": "layer.0", "spatial": "layer.1", "expand": "layer.2", "shortcut": "shortcut"}  # of a bottleneck
PARTS = {"conv": "convolution", "norm": "normalization"}
NAMES = {  # {our module: theirs}; a star is the number of a bottleneck in its stage
    **{f"stem.{part}": f"resnet.embedder.embedder.{theirs}" for part, theirs in PARTS.items()},
    **{
        f"stage{stage}.*.{layer}.{part}": f"resnet.encoder.stages.{stage - 1}.layers.*.{LAYERS[layer]}.{PARTS[part]}"
        for stage in (1, 2, 3, 4)
        for layer in LAYERS
        for part in PARTS
    },
    "classifier": "classifier.1",
}


def build(dims: Mapping[str, int]) -> Any:
    """Returns the model with random weights. Its batch norms have epsilon 1e-5 and momentum 0.1,
    which no setting changes."""
    from transformers import ResNetConfig, ResNetForImageClassification

    return ResNetForImageClassification(
        ResNetConfig(
            num_channels=3,
            embedding_size=dims["width"],
            hidden_sizes=[dims["width"] * scale for scale in (4, 8, 16, 32)],
            depths=[dims[f"blocks{stage}"] for stage in (1, 2, 3, 4)],
            layer_type="bottleneck",
            hidden_act="relu",
            downsample_in_first_stage=False,
            downsample_in_bottleneck=False,
            num_labels=dims["classes"],
        )
    )


def logits(model: Any, image: Any) -> Any:
    return model(pixel_values=image.permute(0, 3, 1, 2)).logits
