# /// script
# requires-python = ">=3.11"
# dependencies = ["transformers>=5"]
# ///
"""Which stack computes a mixture of experts fastest, where each token goes to two of eight?"""

import torch

from suite.ask import integers


def inputs(batch=2, length=64):
    words = integers(batch, length, high=1000, dtype="int64")
    return {"input_ids": words, "labels": words}


def torch_model():
    from transformers import MixtralConfig, MixtralForCausalLM

    size = {"hidden_size": 128, "num_hidden_layers": 2, "intermediate_size": 256, "vocab_size": 1000}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2}
    return MixtralForCausalLM(MixtralConfig(**size, **heads, num_local_experts=8, num_experts_per_tok=2))


def loss(outputs):
    return outputs["loss"]


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)
