# /// script
# requires-python = ">=3.11"
# dependencies = ["transformers>=5"]
# ///
"""Which compiler is fastest for a small Qwen3, whose queries share keys and are normalized by head?"""

import torch

from suite.ask import integers


def inputs(batch=2, length=64):
    words = integers(batch, length, high=2000, dtype="int64")
    return {"input_ids": words, "labels": words}


def torch_model():
    from transformers import Qwen3Config, Qwen3ForCausalLM

    size = {"hidden_size": 128, "num_hidden_layers": 2, "intermediate_size": 384, "vocab_size": 2000}
    heads = {"num_attention_heads": 8, "num_key_value_heads": 2, "head_dim": 16}
    return Qwen3ForCausalLM(Qwen3Config(**size, **heads, max_position_embeddings=128))


def loss(outputs):
    return outputs["loss"]


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)
