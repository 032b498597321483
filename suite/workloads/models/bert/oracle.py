"""Hugging Face's BertForMaskedLM, which computes the golden files of `bert` (suite/reference/make.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch  # type: ignore[import-not-found]
from transformers import BertConfig, BertForMaskedLM  # type: ignore[import-not-found]

DENSE = {
    "attention.query": "attention.self.query",
    "attention.key": "attention.self.key",
    "attention.value": "attention.self.value",
    "attention.out": "attention.output.dense",
    "mlp.up": "intermediate.dense",
    "mlp.down": "output.dense",
}
NORMS = {"attention_norm": "attention.output.LayerNorm", "mlp_norm": "output.LayerNorm"}


def build(dims: Mapping[str, int]) -> Any:
    """Returns the model with these dims, random weights and no dropout."""
    config = BertConfig(
        vocab_size=dims["vocab"],
        max_position_embeddings=dims["positions"],
        type_vocab_size=dims["types"],
        num_hidden_layers=dims["layers"],
        num_attention_heads=dims["heads"],
        hidden_size=dims["width"],
        intermediate_size=dims["hidden"],
        hidden_act="gelu",
        layer_norm_eps=1e-12,
        tie_word_embeddings=True,
        hidden_dropout_prob=0.0,
        attention_probs_dropout_prob=0.0,
        attn_implementation="eager",
        pad_token_id=None,  # by default 0, a token whose embedding Hugging Face gives no gradient
    )
    return BertForMaskedLM(config)


def names(dims: Mapping[str, int]) -> dict[str, tuple[str, str]]:
    """Maps our name to (their name, what turns their layout into ours: `same` or `transpose`)."""
    table = {
        "tokens.weight": ("bert.embeddings.word_embeddings.weight", "same"),
        "positions.weight": ("bert.embeddings.position_embeddings.weight", "same"),
        "types.weight": ("bert.embeddings.token_type_embeddings.weight", "same"),
        **norm("embedding_norm", "bert.embeddings.LayerNorm"),
    }
    for layer in range(dims["layers"]):
        ours, theirs = f"blocks.{layer}", f"bert.encoder.layer.{layer}"
        for name, other in DENSE.items():
            table |= dense(f"{ours}.{name}", f"{theirs}.{other}")
        for name, other in NORMS.items():
            table |= norm(f"{ours}.{name}", f"{theirs}.{other}")
    table |= dense("head.dense", "cls.predictions.transform.dense")
    table |= norm("head.norm", "cls.predictions.transform.LayerNorm")
    return table | {"head.bias": ("cls.predictions.bias", "same")}


def dense(ours: str, theirs: str) -> dict[str, tuple[str, str]]:
    """Maps weight and bias of one nn.Linear, as `names` does."""
    return {f"{ours}.weight": (f"{theirs}.weight", "transpose"), f"{ours}.bias": (f"{theirs}.bias", "same")}


def norm(ours: str, theirs: str) -> dict[str, tuple[str, str]]:
    """Maps weight and bias of one nn.LayerNorm, as `names` does."""
    return {f"{ours}.{part}": (f"{theirs}.{part}", "same") for part in ("weight", "bias")}


def logits(model: Any, tokens: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
    """Returns the logits (B, S, V)."""
    result: torch.Tensor = model(input_ids=tokens.long(), token_type_ids=types.long()).logits
    return result
