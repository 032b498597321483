# /// script
# requires-python = ">=3.11"
# dependencies = ["transformers>=5"]
# ///
"""Is a transformer that forecasts time series large enough for a compiler to help?"""

import torch

from suite.ask import normal


def inputs(batch=8, past=96, future=24, channels=7):
    return {"past_values": normal(batch, past, channels), "future_values": normal(batch, future, channels)}


def torch_model():
    from transformers import PatchTSTConfig, PatchTSTForPrediction

    length = {"context_length": 96, "prediction_length": 24, "patch_length": 16, "patch_stride": 8}
    size = {"d_model": 64, "num_hidden_layers": 3, "num_attention_heads": 4, "ffn_dim": 128}
    return PatchTSTForPrediction(PatchTSTConfig(num_input_channels=7, loss="mse", **length, **size))


def loss(outputs):
    return outputs["loss"]


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)
