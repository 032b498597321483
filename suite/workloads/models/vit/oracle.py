"""Hugging Face's ViTForImageClassification, which computes the golden files of `vit` (tools/oracle.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch  # type: ignore[import-not-found]
from transformers import ViTConfig, ViTForImageClassification  # type: ignore[import-not-found]

PARTS = {  # of a block
    "attention.query": "attention.q_proj",
    "attention.key": "attention.k_proj",
    "attention.value": "attention.v_proj",
    "attention.out": "attention.o_proj",
    "mlp.up": "mlp.fc1",
    "mlp.down": "mlp.fc2",
    "attention_norm": "layernorm_before",
    "mlp_norm": "layernorm_after",
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


def names(dims: Mapping[str, int]) -> dict[str, str]:
    """{our module or tensor: theirs}."""
    table = {
        "patches": "vit.embeddings.patch_embeddings.projection",
        "class_token": "vit.embeddings.cls_token",
        "positions": "vit.embeddings.position_embeddings",
        "norm": "vit.layernorm",
        "head": "classifier",
    }
    for layer in range(dims["layers"]):
        table |= {f"blocks.{layer}.{ours}": f"vit.layers.{layer}.{theirs}" for ours, theirs in PARTS.items()}
    return table


def logits(model: Any, image: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = model(pixel_values=image.permute(0, 3, 1, 2)).logits
    return result
