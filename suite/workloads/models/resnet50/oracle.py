"""Hugging Face's ResNetForImageClassification, which computes the golden files of `resnet50`
(tools/oracle.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# {our name: their name} of a bottleneck's convolutions.
LAYERS = {"reduce": "layer.0", "spatial": "layer.1", "expand": "layer.2", "shortcut": "shortcut"}


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


def names(dims: Mapping[str, int]) -> dict[str, str]:
    """{our module or tensor: theirs}."""
    places = {"stem": "resnet.embedder.embedder"}
    for stage in (1, 2, 3, 4):
        for block in range(dims[f"blocks{stage}"]):
            for ours, theirs in LAYERS.items():
                if ours != "shortcut" or block == 0:
                    bottleneck = f"resnet.encoder.stages.{stage - 1}.layers.{block}"
                    places[f"stage{stage}.{block}.{ours}"] = f"{bottleneck}.{theirs}"
    parts = {"conv": "convolution", "norm": "normalization"}
    table = {f"{ours}.{part}": f"{theirs}.{parts[part]}" for ours, theirs in places.items() for part in parts}
    return table | {"classifier": "classifier.1"}


def logits(model: Any, image: Any) -> Any:
    return model(pixel_values=image.permute(0, 3, 1, 2)).logits
