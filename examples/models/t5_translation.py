# /// script
# requires-python = ">=3.11"
# dependencies = ["transformers>=5"]
# ///
"""Is T5's encoder and decoder in one step faster by XLA than by torch.compile?"""

import torch

from suite.ask import integers


def inputs(batch=2, source=64, translated=32):
    labels = integers(batch, translated, high=2000, dtype="int64")
    return {"input_ids": integers(batch, source, high=2000), "labels": labels}


def torch_model():
    from transformers import T5Config, T5ForConditionalGeneration

    size = {"vocab_size": 2000, "d_model": 128, "d_kv": 32, "d_ff": 512, "num_layers": 2, "num_heads": 4}
    return T5ForConditionalGeneration(T5Config(**size, decoder_start_token_id=0))


def loss(outputs):
    return outputs["loss"]


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)
