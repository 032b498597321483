# /// script
# requires-python = ">=3.11"
# dependencies = ["transformers>=5"]
# ///
"""Do strided convolutions over raw sound make Wav2Vec2 slower under XLA than under PyTorch?"""

from suite.ask import normal


def inputs(batch=2, samples=8000):
    return {"input_values": normal(batch, samples)}


def torch_model():
    from transformers import Wav2Vec2Config, Wav2Vec2Model

    size = {"hidden_size": 128, "num_hidden_layers": 3, "num_attention_heads": 4, "intermediate_size": 512}
    convolutions = {"conv_dim": (64,) * 7, "num_conv_pos_embeddings": 32, "num_conv_pos_embedding_groups": 8}
    return Wav2Vec2Model(Wav2Vec2Config(**size, **convolutions, mask_time_prob=0.0))
