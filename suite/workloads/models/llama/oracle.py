"""Hugging Face's LlamaForCausalLM, which computes the golden files of `llama` (tools/oracle.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

PARTS = {  # of a block
    "attention_norm": "input_layernorm",
    "attention.query": "self_attn.q_proj",
    "attention.key": "self_attn.k_proj",
    "attention.value": "self_attn.v_proj",
    "attention.out": "self_attn.o_proj",
    "mlp_norm": "post_attention_layernorm",
    "mlp.gate": "mlp.gate_proj",
    "mlp.up": "mlp.up_proj",
    "mlp.down": "mlp.down_proj",
}


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


def names(dims: Mapping[str, int]) -> dict[str, str]:
    """{our module or tensor: theirs}."""
    table = {"tokens": "model.embed_tokens", "norm": "model.norm", "head": "lm_head"}
    for layer in range(dims["layers"]):
        table |= {f"blocks.{layer}.{ours}": f"model.layers.{layer}.{theirs}" for ours, theirs in PARTS.items()}
    return table


def logits(model: Any, tokens: Any) -> Any:
    return model(input_ids=tokens).logits
