# /// script
# requires-python = ">=3.11"
# dependencies = ["transformers>=5"]
# ///
"""Do XLA and torch.compile run CLIP's two towers, for pictures and for words, faster than PyTorch alone?"""

import torch

from suite.ask import integers, normal


def inputs(batch=4, length=16, side=64):
    pairs = {"pixel_values": normal(batch, 3, side, side), "input_ids": integers(batch, length, high=1000)}
    return pairs | {"return_loss": True}


def torch_model():
    from transformers import CLIPConfig, CLIPModel

    size = {"hidden_size": 128, "intermediate_size": 256, "num_hidden_layers": 3, "num_attention_heads": 4}
    text = size | {"vocab_size": 1000, "bos_token_id": 0, "eos_token_id": 999, "max_position_embeddings": 16}
    return CLIPModel(CLIPConfig(text_config=text, vision_config=size | {"image_size": 64, "patch_size": 16}))


def loss(outputs):
    return outputs["loss"]


def torch_optimizer(parameters):
    return torch.optim.AdamW(parameters, lr=3e-4)
