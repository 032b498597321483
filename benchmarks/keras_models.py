"""Builds KerasHub's models with a workload's dims, from configurations without downloads, and loads our weights.

A reshape is enough to turn our layout of a weight into theirs: Keras has (inputs, outputs) and HWIO too, but gives
heads an axis of their own. A weight of ours that contains several of theirs is first split along its last axis.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import keras
import keras_hub.models as hub
import numpy as np
from keras import ops

Dims = Mapping[str, int]
Places = dict[str, tuple[str, ...]]  # {canonical name of our weight: paths of their variables that it fills}
PARTS = ("query", "key", "value")


@dataclass(frozen=True)
class KerasModel:
    """A KerasHub model, the function that turns our inputs into the model's, and the places of our weights in it."""

    model: Any
    inputs: Callable[..., Any]
    places: Places

    def load(self, parameters: Iterable[tuple[str, Any]]) -> None:
        """Loads our canonical weights. Raises SystemExit unless they fill all trained variables and running
        statistics."""
        empty = {variable.path: variable for variable in self.model.variables if wanted(variable)}
        for name, value in parameters:
            paths = self.places[name]
            for path, part in zip(paths, np.split(value, len(paths), axis=-1), strict=True):
                variable = empty.pop(path)
                variable.assign(part.reshape(variable.shape))
        if empty:
            raise SystemExit(f"KerasHub's model has weights that ours lacks: {', '.join(empty)}")


def wanted(variable: Any) -> bool:
    """Whether a variable takes part in the computation: it is trained or a running statistic."""
    return bool(variable.trainable) or "/moving_" in variable.path


def text_sizes(dims: Dims) -> dict[str, Any]:
    """Returns the dims of a text model with learned positions under KerasHub's names, and no dropout."""
    return {
        "vocabulary_size": dims["vocab"],
        "num_layers": dims["layers"],
        "num_heads": dims["heads"],
        "hidden_dim": dims["width"],
        "intermediate_dim": dims["hidden"],
        "dropout": 0.0,
        "max_sequence_length": dims["positions"],
    }


def gpt2(dims: Dims) -> KerasModel:
    """Returns GPT2CausalLM. It computes query, key and value by three products; the paper's code does so by one."""
    backbone = hub.GPT2Backbone(**text_sizes(dims))
    places = table("tokens", "token_embedding") | table("positions", "position_embedding") | norm("norm", "layer_norm")
    for layer in range(dims["layers"]):
        ours, theirs = f"blocks.{layer}", f"transformer_layer_{layer}"
        heads = f"{theirs}/self_attention"
        places |= norm(f"{ours}.norm1", f"{heads}_layer_norm")
        places |= norm(f"{ours}.norm2", f"{theirs}/feedforward_layer_norm")
        places |= dense(f"{ours}.attention.qkv", *(f"{heads}/{part}" for part in PARTS))
        places |= dense(f"{ours}.attention.out", f"{heads}/attention_output")
        places |= feedforward(f"{ours}.mlp", theirs)
    return KerasModel(hub.GPT2CausalLM(backbone=backbone), causal, places)


def bert(dims: Dims) -> KerasModel:
    """Returns BertMaskedLM, changed to the published model's exact GELU and epsilon of the head. It predicts all
    positions."""
    backbone = hub.BertBackbone(**text_sizes(dims), num_segments=dims["types"])
    for layer in backbone.transformer_layers:
        layer._feedforward_intermediate_dense.activation = keras.activations.gelu  # theirs is its tanh approximation
    backbone.pooled_dense.trainable = False  # the loss doesn't depend on this layer, so a compiler drops it
    model = hub.BertMaskedLM(backbone=backbone)
    model.masked_lm_head._intermediate_layer_norm.epsilon = 1e-12
    places = table("tokens", "token_embedding") | table("positions", "position_embedding")
    places |= table("types", "segment_embedding") | norm("embedding_norm", "embeddings_layer_norm")
    for number in range(dims["layers"]):
        ours, theirs = f"blocks.{number}", f"transformer_layer_{number}"
        places |= attention(f"{ours}.attention", f"{theirs}/self_attention_layer")
        places |= norm(f"{ours}.attention_norm", f"{theirs}/self_attention_layer_norm")
        places |= feedforward(f"{ours}.mlp", theirs) | norm(f"{ours}.mlp_norm", f"{theirs}/feedforward_layer_norm")
    places |= dense("head.dense", "mlm_head/intermediate_dense")
    places |= norm("head.norm", "mlm_head/intermediate_layer_norm") | {"head.bias": ("mlm_head/output_bias",)}

    def inputs(tokens: Any, types: Any) -> dict[str, Any]:
        everywhere = ops.broadcast_to(ops.arange(tokens.shape[1], dtype="int32"), tokens.shape)
        return causal(tokens) | {"segment_ids": types, "mask_positions": everywhere}

    return KerasModel(model, inputs, places)


def vit(dims: Dims) -> KerasModel:
    """Returns ViTImageClassifier, which classifies by the class token."""
    backbone = hub.ViTBackbone(
        image_shape=(dims["image"], dims["image"], 3),
        patch_size=dims["patch"],
        num_layers=dims["layers"],
        num_heads=dims["heads"],
        hidden_dim=dims["width"],
        mlp_dim=dims["hidden"],
        layer_norm_epsilon=1e-12,
    )
    first, encoder = "vit_patching_and_embedding", "vit_encoder"
    places = dense("patches", f"{first}/patch_embedding") | {"class_token": (f"{first}/class_token",)}
    places |= {"positions": (f"{first}/position_embedding/embeddings",)}
    for layer in range(dims["layers"]):
        ours, theirs = f"blocks.{layer}", f"{encoder}/transformer_block_{layer + 1}"
        places |= norm(f"{ours}.attention_norm", f"{theirs}/ln_1") | attention(f"{ours}.attention", f"{theirs}/mha")
        places |= norm(f"{ours}.mlp_norm", f"{theirs}/ln_2") | dense(f"{ours}.mlp.up", f"{theirs}/mlp/dense_1")
        places |= dense(f"{ours}.mlp.down", f"{theirs}/mlp/dense_2")
    places |= norm("norm", f"{encoder}/ln") | dense("head", "predictions")
    return KerasModel(hub.ViTImageClassifier(backbone=backbone, num_classes=dims["classes"]), picture, places)


def resnet50(dims: Dims) -> KerasModel:
    """Returns ResNetImageClassifier with bottlenecks, whose stride is in the 3 x 3 convolution. Raises SystemExit if
    the stem's width isn't 64, which is KerasHub's."""
    if dims["width"] != 64:
        raise SystemExit("KerasHub's ResNets have a width of 64, so only size full can be raced.")
    blocks = [dims[f"blocks{stage}"] for stage in (1, 2, 3, 4)]
    backbone = hub.ResNetBackbone(
        input_conv_filters=[64],
        input_conv_kernel_sizes=[7],
        stackwise_num_filters=[64, 128, 256, 512],
        stackwise_num_blocks=blocks,
        stackwise_num_strides=[1, 2, 2, 2],
        block_type="bottleneck_block",
        image_shape=(dims["image"], dims["image"], 3),
    )
    places = convolution("stem", "conv1") | dense("classifier", "predictions")
    for stage, count in enumerate(blocks):
        for block in range(count):
            ours, theirs = f"stage{stage + 1}.{block}", f"stack{stage}_block{block}"
            for number, name in enumerate(("shortcut", "reduce", "spatial", "expand")):
                if number or block == 0:
                    places |= convolution(f"{ours}.{name}", f"{theirs}_{number}")
    return KerasModel(hub.ResNetImageClassifier(backbone=backbone, num_classes=dims["classes"]), picture, places)


def llama(dims: Dims) -> KerasModel:
    """Returns Llama3CausalLM with the rotary positions of Llama 3.1 and an output head that isn't tied to the
    embedding.
    """
    backbone = hub.Llama3Backbone(
        vocabulary_size=dims["vocab"],
        num_layers=dims["layers"],
        num_query_heads=dims["heads"],
        num_key_value_heads=dims["kv_heads"],
        hidden_dim=dims["width"],
        intermediate_dim=dims["hidden"],
        layer_norm_epsilon=1e-5,
        rope_max_wavelength=500000,
        rope_frequency_adjustment_factor=8.0,
        rope_low_freq_factor=1.0,
        rope_high_freq_factor=4.0,
        rope_pretraining_sequence_length=8192,
    )
    places: Places = {
        "tokens.weight": ("token_embedding/embeddings",),
        "head.weight": ("token_embedding/reverse_embeddings",),
        "norm.weight": ("sequence_output_layernorm/scale",),
    }
    for layer in range(dims["layers"]):
        ours, theirs = f"blocks.{layer}", f"transformer_layer_{layer}"
        parts = attention(f"{ours}.attention", f"{theirs}/self_attention")
        places |= {name: paths for name, paths in parts.items() if name.endswith(".weight")}
        places[f"{ours}.attention_norm.weight"] = (f"{theirs}/self_attention_layernorm/scale",)
        places[f"{ours}.mlp_norm.weight"] = (f"{theirs}/feedforward_layernorm/scale",)
        for name, other in {"gate": "gate", "up": "intermediate", "down": "output"}.items():
            places[f"{ours}.mlp.{name}.weight"] = (f"{theirs}/feedforward_{other}_dense/kernel",)
    return KerasModel(hub.Llama3CausalLM(backbone=backbone), causal, places)


MODELS: dict[str, Callable[[Dims], KerasModel]] = {
    "gpt2": gpt2,
    "bert": bert,
    "vit": vit,
    "resnet50": resnet50,
    "llama": llama,
}


def causal(tokens: Any) -> dict[str, Any]:
    """Returns the inputs of their text models, which need a mask of padding; here no token is padding."""
    return {"token_ids": tokens, "padding_mask": ops.ones_like(tokens)}


def picture(image: Any) -> Any:
    """Returns the image unchanged, since their image models have channels last as ours do."""
    return image


def table(ours: str, theirs: str) -> Places:
    """Returns the places of an embedding's weights."""
    return {f"{ours}.weight": (f"{theirs}/embeddings",)}


def dense(ours: str, *theirs: str) -> Places:
    """Returns the places of kernel and bias of one dense layer, or of several side by side."""
    return {f"{ours}.weight": tuple(f"{t}/kernel" for t in theirs), f"{ours}.bias": tuple(f"{t}/bias" for t in theirs)}


def norm(ours: str, theirs: str) -> Places:
    """Returns the places of a norm's scale and shift."""
    return {f"{ours}.weight": (f"{theirs}/gamma",), f"{ours}.bias": (f"{theirs}/beta",)}


def attention(ours: str, theirs: str) -> Places:
    """Returns the places of the weights of an attention's four products."""
    outside = dense(f"{ours}.out", f"{theirs}/attention_output")
    return outside | {k: v for part in PARTS for k, v in dense(f"{ours}.{part}", f"{theirs}/{part}").items()}


def feedforward(ours: str, theirs: str) -> Places:
    """Returns the places of a feed-forward block's two layers."""
    inside = dense(f"{ours}.up", f"{theirs}/feedforward_intermediate_dense")
    return inside | dense(f"{ours}.down", f"{theirs}/feedforward_output_dense")


def convolution(ours: str, theirs: str) -> Places:
    """Returns the places of a convolution without bias, and of its batch norm with the statistics."""
    statistics = {"running_mean": "moving_mean", "running_var": "moving_variance"}
    places = {f"{ours}.norm.{name}": (f"{theirs}_bn/{other}",) for name, other in statistics.items()}
    return places | norm(f"{ours}.norm", f"{theirs}_bn") | {f"{ours}.conv.weight": (f"{theirs}_conv/kernel",)}
