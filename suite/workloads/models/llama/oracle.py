"""Hugging Face's LlamaForCausalLM, which computes the golden files of `llama` (tools/oracle.py)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

NAMES = {  # {our module or tensor: theirs}; a star is the number of a block
    "tokens": "model.embed_tokens",
    "norm": "model.norm",
    "head": "lm_head",
    "blocks.*.attention_norm": "model.layers.*.input_layernorm",
    "blocks.*.attention.query": "model.layers.*.self_attn.q_proj",
    "blocks.*.attention.key": "model.layers.*.self_attn.k_proj",
    "blocks.*.attention.value": "model.layers.*.self_attn.v_proj",
    "blocks.*.attention.out": "model.layers.*.self_attn.o_proj",
    "blocks.*.mlp_norm": "model.layers.*.post_attention_layernorm",
    "blocks.*.mlp.gate": "model.layers.*.mlp.gate_proj",
    "blocks.*.mlp.up": "model.layers.*.mlp.up_proj",
    "blocks.*.mlp.down": "model.layers.*.mlp.down_proj",
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


def logits(model: Any, tokens: Any) -> Any:
    return model(input_ids=tokens).logits
