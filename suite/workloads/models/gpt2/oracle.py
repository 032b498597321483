"""The independent GPT-2: Hugging Face's GPT2LMHeadModel. Runs in the environment `oracle`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def build(dims: Mapping[str, int]) -> Any:
    """The model of these dims, without dropout."""
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


def names(dims: Mapping[str, int]) -> dict[str, tuple[str, str]]:
    """Canonical name: (theirs, how its layout differs). Their Conv1D keeps (inputs, outputs), as we do."""
    found = {"tokens.weight": "transformer.wte.weight", "positions.weight": "transformer.wpe.weight"}
    parts = {
        "norm1": "ln_1",
        "attention.qkv": "attn.c_attn",
        "attention.out": "attn.c_proj",
        "norm2": "ln_2",
        "mlp.up": "mlp.c_fc",
        "mlp.down": "mlp.c_proj",
    }
    for layer in range(dims["layers"]):
        for ours, theirs in parts.items():
            for kind in ("weight", "bias"):
                found[f"blocks.{layer}.{ours}.{kind}"] = f"transformer.h.{layer}.{theirs}.{kind}"
    for kind in ("weight", "bias"):
        found[f"norm.{kind}"] = f"transformer.ln_f.{kind}"
    return {ours: (theirs, "same") for ours, theirs in found.items()}


def logits(model: Any, tokens: Any) -> Any:
    """(B, T, V)."""
    return model(input_ids=tokens).logits
