"""Hugging Face's LlamaForCausalLM, which computes the golden files of `llama` (suite/reference/make.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PARTS = {
    "attention_norm": "input_layernorm",
    "attention.query": "self_attn.q_proj",
    "attention.key": "self_attn.k_proj",
    "attention.value": "self_attn.v_proj",
    "attention.out": "self_attn.o_proj",
    "mlp_norm": "post_attention_layernorm",
    "mlp.gate": "mlp.gate_proj",
    "mlp.up": "mlp.up_proj",
    "mlp.down": "mlp.down_proj",
}  # {our name: their name} of a block's parts


def build(dims: Mapping[str, int]) -> Any:
    """Returns the model with random weights. Its rotary tables are float32 even if its weights are float64."""
    from transformers import LlamaConfig, LlamaForCausalLM

    return LlamaForCausalLM(
        LlamaConfig(
            vocab_size=dims["vocab"],
            hidden_size=dims["width"],
            intermediate_size=dims["hidden"],
            num_hidden_layers=dims["layers"],
            num_attention_heads=dims["heads"],
            num_key_value_heads=dims["kv_heads"],
            max_position_embeddings=dims["positions"],
            rms_norm_eps=1e-5,
            rope_parameters={
                "rope_type": "llama3",
                "rope_theta": 500000.0,
                "factor": 8.0,
                "low_freq_factor": 1.0,
                "high_freq_factor": 4.0,
                "original_max_position_embeddings": 8192,
            },
            hidden_act="silu",
            attention_bias=False,
            attention_dropout=0.0,
            mlp_bias=False,
            tie_word_embeddings=False,
            use_cache=False,
            bos_token_id=None,
            eos_token_id=None,
            attn_implementation="eager",
        )
    )


def names(dims: Mapping[str, int]) -> dict[str, tuple[str, str]]:
    """Maps our name to (their name, what turns their layout into ours: `same` or `transpose`)."""
    table = {"tokens.weight": ("model.embed_tokens.weight", "same")}
    for layer in range(dims["layers"]):
        for ours, theirs in PARTS.items():
            layout = "same" if ours.endswith("norm") else "transpose"
            table[f"blocks.{layer}.{ours}.weight"] = (f"model.layers.{layer}.{theirs}.weight", layout)
    table["norm.weight"] = ("model.norm.weight", "same")
    table["head.weight"] = ("lm_head.weight", "transpose")
    return table


def logits(model: Any, tokens: Any) -> Any:
    """Returns the logits (B, S, V) of token ids (B, S)."""
    return model(input_ids=tokens).logits
