"""The independent implementation of llama: Hugging Face's LlamaForCausalLM."""

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
}  # ours: theirs, in a block


def build(dims: Mapping[str, int]) -> Any:
    """The model with random weights. It makes its rotary tables in float32, also where its weights are float64."""
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
    """{our name: (theirs, what turns theirs into our layout)}."""
    found = {"tokens.weight": ("model.embed_tokens.weight", "same")}
    for layer in range(dims["layers"]):
        for ours, theirs in PARTS.items():
            layout = "same" if ours.endswith("norm") else "transpose"
            found[f"blocks.{layer}.{ours}.weight"] = (f"model.layers.{layer}.{theirs}.weight", layout)
    found["norm.weight"] = ("model.norm.weight", "same")
    found["head.weight"] = ("lm_head.weight", "transpose")
    return found


def logits(model: Any, tokens: Any) -> Any:
    """(B, S, V) of token ids (B, S)."""
    return model(input_ids=tokens).logits
