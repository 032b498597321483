"""Hugging Face's GPTNeoForCausalLM, which computes the golden files of `gpt_neo` (tools/oracle.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from unittest import mock

NAMES = {  # {our module or tensor: theirs}; a star is the number of a block
    "tokens": "transformer.wte",
    "positions": "transformer.wpe",
    "norm": "transformer.ln_f",
    "blocks.*.norm1": "transformer.h.*.ln_1",
    "blocks.*.attention.query": "transformer.h.*.attn.attention.q_proj",
    "blocks.*.attention.key": "transformer.h.*.attn.attention.k_proj",
    "blocks.*.attention.value": "transformer.h.*.attn.attention.v_proj",
    "blocks.*.attention.out": "transformer.h.*.attn.attention.out_proj",
    "blocks.*.norm2": "transformer.h.*.ln_2",
    "blocks.*.mlp.up": "transformer.h.*.mlp.c_fc",
    "blocks.*.mlp.down": "transformer.h.*.mlp.c_proj",
}


def build(dims: Mapping[str, int]) -> Any:
    """Returns the model with these dims, randomly initialised, without dropout."""
    from transformers import GPTNeoConfig, GPTNeoForCausalLM

    config = GPTNeoConfig(
        vocab_size=dims["vocab"],
        max_position_embeddings=dims["positions"],
        hidden_size=dims["width"],
        intermediate_size=dims["hidden"],
        num_layers=dims["layers"],
        num_heads=dims["heads"],
        attention_types=[[["global", "local"], dims["layers"] // 2], [["global"], dims["layers"] % 2]],
        window_size=dims["window"],
        activation_function="gelu_new",
        layer_norm_epsilon=1e-5,
        resid_dropout=0.0,
        embed_dropout=0.0,
        attention_dropout=0.0,
        tie_word_embeddings=True,
        use_cache=False,
        bos_token_id=None,  # the defaults lie outside small vocabularies
        eos_token_id=None,
        attn_implementation="eager",
    )
    return GPTNeoForCausalLM(config)


def logits(model: Any, tokens: Any) -> Any:
    """Returns the logits (B, T, V) of token ids (B, T).

    Hugging Face's attention computes its scores in `torch.float32`, whatever the model's type is, so a reference in
    float64 would have float32's noise. Therefore `torch.float32` is replaced by the model's own type while it runs.
    """
    import torch

    if model.dtype == torch.float32:
        return model(input_ids=tokens).logits
    with mock.patch.object(torch, "float32", model.dtype):
        return model(input_ids=tokens).logits
