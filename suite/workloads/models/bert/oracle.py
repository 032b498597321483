"""Hugging Face's BertForMaskedLM, which computes the golden files of `bert` (tools/oracle.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch  # type: ignore[import-not-found]
from transformers import BertConfig, BertForMaskedLM  # type: ignore[import-not-found]

PARTS = {  # of a block
    "attention.query": "attention.self.query",
    "attention.key": "attention.self.key",
    "attention.value": "attention.self.value",
    "attention.out": "attention.output.dense",
    "mlp.up": "intermediate.dense",
    "mlp.down": "output.dense",
    "attention_norm": "attention.output.LayerNorm",
    "mlp_norm": "output.LayerNorm",
}


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


def names(dims: Mapping[str, int]) -> dict[str, str]:
    """{our module or tensor: theirs}."""
    table = {
        "tokens": "bert.embeddings.word_embeddings",
        "positions": "bert.embeddings.position_embeddings",
        "types": "bert.embeddings.token_type_embeddings",
        "embedding_norm": "bert.embeddings.LayerNorm",
        "head": "cls.predictions",
        "head.dense": "cls.predictions.transform.dense",
        "head.norm": "cls.predictions.transform.LayerNorm",
    }
    for layer in range(dims["layers"]):
        table |= {f"blocks.{layer}.{ours}": f"bert.encoder.layer.{layer}.{theirs}" for ours, theirs in PARTS.items()}
    return table


def logits(model: Any, tokens: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
    result: torch.Tensor = model(input_ids=tokens.long(), token_type_ids=types.long()).logits
    return result
