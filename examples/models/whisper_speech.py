# /// script
# requires-python = ">=3.11"
# dependencies = ["transformers>=5"]
# ///
"""Is Whisper's training step on a spectrogram faster compiled, and by which compiler?"""

import torch

from suite.ask import integers, normal


def inputs(batch=1, frames=200, words=24):
    return {"input_features": normal(batch, 40, frames), "labels": integers(batch, words, high=1000, dtype="int64")}


def torch_model():
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    layers = {f"{part}_{what}": n for part in ("encoder", "decoder") for what, n in (("layers", 2), ("ffn_dim", 512))}
    heads = {"encoder_attention_heads": 4, "decoder_attention_heads": 4, "d_model": 128, "num_mel_bins": 40}
    words = {"vocab_size": 1000, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 2, "decoder_start_token_id": 1}
    return WhisperForConditionalGeneration(WhisperConfig(**layers, **heads, **words, max_source_positions=100))


def loss(outputs):
    return outputs["loss"]


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)
