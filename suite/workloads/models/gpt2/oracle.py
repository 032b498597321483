"""Hugging Face's GPT2LMHeadModel, which computes the golden files of `gpt2` (tools/oracle.py). Its Conv1D keeps
weights as (inputs, outputs), as we do."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PARTS = {  # of a block
    "norm1": "ln_1",
    "attention.qkv": "attn.c_attn",
    "attention.out": "attn.c_proj",
    "norm2": "ln_2",
    "mlp.up": "mlp.c_fc",
    "mlp.down": "mlp.c_proj",
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
            resid_pdrop=0.0,
            embd_pdrop=0.0,
            attn_pdrop=0.0,
            layer_norm_epsilon=1e-5,
            tie_word_embeddings=True,
            use_cache=False,
            bos_token_id=0,
            eos_token_id=0,
        )
    )


def names(dims: Mapping[str, int]) -> dict[str, str]:
    """{our module or tensor: theirs}."""
    table = {"tokens": "transformer.wte", "positions": "transformer.wpe", "norm": "transformer.ln_f"}
    for layer in range(dims["layers"]):
        table |= {f"blocks.{layer}.{ours}": f"transformer.h.{layer}.{theirs}" for ours, theirs in PARTS.items()}
    return table


def logits(model: Any, tokens: Any) -> Any:
    return model(input_ids=tokens).logits
