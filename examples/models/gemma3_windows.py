# /// script
# requires-python = ">=3.11"
# dependencies = ["transformers>=5"]
# ///
"""Does a compiler gain from Gemma 3's sliding windows where the window is shorter than the text?"""

import torch

from suite.ask import integers


def inputs(batch=2, length=96):
    words = integers(batch, length, high=2000, dtype="int64")
    return {"input_ids": words, "labels": words}


def torch_model():
    from transformers import Gemma3ForCausalLM, Gemma3TextConfig

    size = {"hidden_size": 128, "num_hidden_layers": 2, "intermediate_size": 384, "vocab_size": 2000}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 1, "head_dim": 32, "sliding_window": 16}
    return Gemma3ForCausalLM(Gemma3TextConfig(**size, **heads, layer_types=["sliding_attention", "full_attention"]))


def loss(outputs):
    return outputs["loss"]


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)
