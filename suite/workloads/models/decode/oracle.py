"""Hugging Face's GPT2LMHeadModel, which computes the golden files of `decode` (tools/oracle.py): a whole sequence at
once, without a cache. Its Conv1D keeps weights as (inputs, outputs), as we do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NAMES = {  # {our module or tensor: theirs}; a star is the number of a block
    "tokens": "transformer.wte",
    "positions": "transformer.wpe",
    "norm": "transformer.ln_f",
    "blocks.*.norm1": "transformer.h.*.ln_1",
    "blocks.*.attention.qkv": "transformer.h.*.attn.c_attn",
    "blocks.*.attention.out": "transformer.h.*.attn.c_proj",
    "blocks.*.norm2": "transformer.h.*.ln_2",
    "blocks.*.mlp.up": "transformer.h.*.mlp.c_fc",
    "blocks.*.mlp.down": "transformer.h.*.mlp.c_proj",
}


def build(dims: Mapping[str, int]) -> Any:
    """Returns the model with these dims, without dropout."""
    from transformers import GPT2Config, GPT2LMHeadModel

    return GPT2LMHeadModel(
        GPT2Config(
            vocab_size=dims["vocab"],
            n_positions=dims["positions"],
            n_embd=dims["width"],
            n_layer=dims["layers"],
            n_head=dims["heads"],
            n_inner=dims["hidden"],
            activation_function="gelu_new",
            layer_norm_epsilon=1e-5,
            tie_word_embeddings=True,
            use_cache=False,
            bos_token_id=0,
            eos_token_id=0,
        )
    )


def logits(model: Any, tokens: Any) -> Any:
    """Returns the largest logit of each position (B, S), and the logits of the last (B, V)."""
    every = model(input_ids=tokens).logits
    return every.amax(dim=-1), every[:, -1]
