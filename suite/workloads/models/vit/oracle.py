"""Hugging Face's ViTForImageClassification, which computes the golden files of `vit` (tools/oracle.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformers import ViTConfig, ViTForImageClassification  # type: ignore[import-not-found]

NAMES = {  # {our module or tensor: theirs}; a star is the number of a block
    "patches": "vit.embeddings.patch_embeddings.projection",
    "class_token": "vit.embeddings.cls_token",
    "positions": "vit.embeddings.position_embeddings",
    "norm": "vit.layernorm",
    "head": "classifier",
    "blocks.*.attention.query": "vit.layers.*.attention.q_proj",
    "blocks.*.attention.key": "vit.layers.*.attention.k_proj",
    "blocks.*.attention.value": "vit.layers.*.attention.v_proj",
    "blocks.*.attention.out": "vit.layers.*.attention.o_proj",
    "blocks.*.mlp.up": "vit.layers.*.mlp.fc1",
    "blocks.*.mlp.down": "vit.layers.*.mlp.fc2",
    "blocks.*.attention_norm": "vit.layers.*.layernorm_before",
    "blocks.*.mlp_norm": "vit.layers.*.layernorm_after",
}


def build(dims: Mapping[str, int]) -> Any:
    """Returns the model with these dims, random weights and no dropout."""
    config = ViTConfig(
        image_size=dims["image"],
        patch_size=dims["patch"],
        num_channels=3,
        num_labels=dims["classes"],
        num_hidden_layers=dims["layers"],
        num_attention_heads=dims["heads"],
        hidden_size=dims["width"],
        intermediate_size=dims["hidden"],
        hidden_act="gelu",
        layer_norm_eps=1e-12,
        qkv_bias=True,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        attn_implementation="eager",
    )
    return ViTForImageClassification(config)


def logits(model: Any, image: Any) -> Any:
    return model(pixel_values=image.permute(0, 3, 1, 2)).logits
