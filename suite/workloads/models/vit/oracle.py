"""Hugging Face's ViTForImageClassification, which computes the golden files of `vit` (suite/reference/make.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch  # type: ignore[import-not-found]
from transformers import ViTConfig, ViTForImageClassification  # type: ignore[import-not-found]

DENSE = {
    "attention.query": "attention.q_proj",
    "attention.key": "attention.k_proj",
    "attention.value": "attention.v_proj",
    "attention.out": "attention.o_proj",
    "mlp.up": "mlp.fc1",
    "mlp.down": "mlp.fc2",
}
NORMS = {"attention_norm": "layernorm_before", "mlp_norm": "layernorm_after"}


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


def names(dims: Mapping[str, int]) -> dict[str, tuple[str, str]]:
    """Maps our name to (their name, what turns their layout into ours: `conv`, `same` or `transpose`)."""
    table = {
        "patches.weight": ("vit.embeddings.patch_embeddings.projection.weight", "conv"),
        "patches.bias": ("vit.embeddings.patch_embeddings.projection.bias", "same"),
        "class_token": ("vit.embeddings.cls_token", "same"),
        "positions": ("vit.embeddings.position_embeddings", "same"),
    }
    for layer in range(dims["layers"]):
        ours, theirs = f"blocks.{layer}", f"vit.layers.{layer}"
        for name, other in DENSE.items():
            table |= dense(f"{ours}.{name}", f"{theirs}.{other}")
        for name, other in NORMS.items():
            table |= norm(f"{ours}.{name}", f"{theirs}.{other}")
    return table | norm("norm", "vit.layernorm") | dense("head", "classifier")


def dense(ours: str, theirs: str) -> dict[str, tuple[str, str]]:
    """Maps weight and bias of one nn.Linear, as `names` does."""
    return {f"{ours}.weight": (f"{theirs}.weight", "transpose"), f"{ours}.bias": (f"{theirs}.bias", "same")}


def norm(ours: str, theirs: str) -> dict[str, tuple[str, str]]:
    """Maps weight and bias of one nn.LayerNorm, as `names` does."""
    return {f"{ours}.{part}": (f"{theirs}.{part}", "same") for part in ("weight", "bias")}


def logits(model: Any, image: torch.Tensor) -> torch.Tensor:
    """Returns the logits (B, C) of images (B, I, I, 3)."""
    result: torch.Tensor = model(pixel_values=image.permute(0, 3, 1, 2)).logits
    return result
