# /// script
# requires-python = ">=3.11"
# dependencies = ["transformers>=5"]
# ///
"""How much faster does Mamba's scan get without its own kernels, if a compiler sees all of its steps?"""

import torch

from suite.ask import integers


def inputs(batch=2, length=32):
    words = integers(batch, length, high=1000, dtype="int64")
    return {"input_ids": words, "labels": words}


def torch_model():
    from transformers import MambaConfig, MambaForCausalLM

    size = {"vocab_size": 1000, "hidden_size": 128, "num_hidden_layers": 2, "state_size": 16}
    return MambaForCausalLM(MambaConfig(**size, use_cache=False))


def loss(outputs):
    return outputs["loss"]


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)
