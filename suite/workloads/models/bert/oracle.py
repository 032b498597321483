"""Hugging Face's BertForMaskedLM, which computes the golden files of `bert` (tools/oracle.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from transformers import BertConfig, BertForMaskedLM  # type: ignore[import-not-found]

NAMES = {  # {our module or tensor: theirs}; a star is the number of a block
    "tokens": "bert.embeddings.word_embeddings",
    "positions": "bert.embeddings.position_embeddings",
    "types": "bert.embeddings.token_type_embeddings",
    "embedding_norm": "bert.embeddings.LayerNorm",
    "head": "cls.predictions",
    "head.dense": "cls.predictions.transform.dense",
    "head.norm": "cls.predictions.transform.LayerNorm",
    "blocks.*.attention.query": "bert.encoder.layer.*.attention.self.query",
    "blocks.*.attention.key": "bert.encoder.layer.*.attention.self.key",
    "blocks.*.attention.value": "bert.encoder.layer.*.attention.self.value",
    "blocks.*.attention.out": "bert.encoder.layer.*.attention.output.dense",
    "blocks.*.mlp.up": "bert.encoder.layer.*.intermediate.dense",
    "blocks.*.mlp.down": "bert.encoder.layer.*.output.dense",
    "blocks.*.attention_norm": "bert.encoder.layer.*.attention.output.LayerNorm",
    "blocks.*.mlp_norm": "bert.encoder.layer.*.output.LayerNorm",
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


def logits(model: Any, tokens: Any, types: Any) -> Any:
    return model(input_ids=tokens, token_type_ids=types).logits
