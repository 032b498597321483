# /// script
# requires-python = ">=3.11"
# dependencies = ["transformers>=5"]
# ///
"""How much of BERT's time for masked words does torch.compile save, and how much does XLA?"""

import torch

from suite.ask import integers


def inputs(batch=4, length=64):
    words = integers(batch, length, high=2000, dtype="int64")
    return {"input_ids": words, "attention_mask": integers(batch, length, high=2, low=1), "labels": words}


def torch_model():
    from transformers import BertConfig, BertForMaskedLM

    size = {"hidden_size": 128, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 512}
    return BertForMaskedLM(BertConfig(vocab_size=2000, max_position_embeddings=128, **size))


def loss(outputs):
    return outputs["loss"]


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)
