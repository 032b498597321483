"""A port's weights in those of the first model: pairs as frameworks name them, what can't be known, what runs."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suite.errors import UserError
from suite.workloads.questions.ports.expressions import shape_of, value_of
from suite.workloads.questions.ports.layers import Leaf
from suite.workloads.questions.ports.matching import match
from tests.workloads.questions.ports.port_pairs import LLAMA, LSTM, MLP, PAIRS, UNET, VIT, leaves

TWICE = ("gpt2", "llama", "from_flax_lstm", "lstm", "nnx_lstm", "equinox_lstm", "gru")  # have a sum, or a leaf twice


def values_of(model: list[Leaf], seed: int) -> dict[str, np.ndarray]:
    draw = np.random.default_rng(seed).normal
    return {leaf.name: draw(size=leaf.shape) for leaf in model}


def ported(pair: str, values: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    return {name: value_of(expression, values) for name, expression in found_weights(pair).items()}


@cache
def found_weights(pair: str) -> dict[str, str]:
    return match(*PAIRS[pair][:2]).weights


@pytest.mark.parametrize("name", PAIRS)
def test_a_port_has_all_of_the_first_models_weights(name: str) -> None:
    first, port, expected = PAIRS[name]
    found = match(first, port)
    assert found.weights == expected
    assert found.unmatched == []
    shapes = {leaf.name: leaf.shape for leaf in first}
    assert {it: shape_of(expression, shapes) for it, expression in found.weights.items()} == {
        leaf.name: leaf.shape for leaf in port
    }


@pytest.mark.parametrize("name", [name for name in PAIRS if name not in TWICE])
def test_the_other_way_round_gives_the_same_weights_back(name: str) -> None:
    first, port, _ = PAIRS[name]
    values = values_of(first, 1)
    theirs = ported(name, values)
    back = {it: value_of(expression, theirs) for it, expression in match(port, first).weights.items()}
    assert back.keys() == values.keys()
    for leaf, value in values.items():
        np.testing.assert_array_equal(back[leaf], value)


@pytest.mark.parametrize("name", PAIRS)
def test_a_model_matches_itself_within_another_module(name: str) -> None:
    first, _, _ = PAIRS[name]
    prefixed = [replace(leaf, name=f"wrapped.inner.{leaf.name}") for leaf in first]
    found = match(first, prefixed)
    assert found.weights == {f"wrapped.inner.{leaf.name}": leaf.name for leaf in first}


# What runs with the found weights: the same result.


@given(st.integers(0, 2**32))
def test_an_mlp_gives_the_same(seed: int) -> None:
    values = values_of(MLP[0], seed)
    theirs = ported("mlp", values)
    x = y = np.random.default_rng(seed + 1).normal(size=(3, 64))
    for layer, name in enumerate(("fc1", "fc2", "fc3", "out")):
        x = np.tanh(x @ values[f"{name}.weight"].T + values[f"{name}.bias"])
        y = np.tanh(y @ theirs[f"params.Dense_{layer}.kernel"] + theirs[f"params.Dense_{layer}.bias"])
    np.testing.assert_allclose(y, x, rtol=1e-12)


def softmax(x: np.ndarray) -> np.ndarray:
    powers = np.exp(x - x.max(-1, keepdims=True))
    return powers / powers.sum(-1, keepdims=True)


@given(st.integers(0, 2**32))
def test_attention_gives_the_same(seed: int) -> None:
    """nn.MultiheadAttention as PyTorch documents it, and Flax's einsums over heads."""
    values = values_of(VIT[0], seed)
    theirs = ported("vit", values)
    x = np.random.default_rng(seed + 1).normal(size=(2, 5, 64)) / 8
    path = "encoder.layers.encoder_layer_1.self_attention."
    fused = x @ values[path + "in_proj_weight"].T + values[path + "in_proj_bias"]
    q, k, v = (part.reshape(2, 5, 4, 16).swapaxes(1, 2) for part in np.split(fused, 3, axis=-1))
    heads = softmax(q @ k.swapaxes(2, 3) / 4) @ v
    right = heads.swapaxes(1, 2).reshape(2, 5, 64) @ values[path + "out_proj.weight"].T + values[path + "out_proj.bias"]
    path = "Transformer.encoderblock_1.MultiHeadDotProductAttention_0."
    q, k, v = (
        np.einsum("bti,ihd->bthd", x, theirs[f"{path}{name}.kernel"]) + theirs[f"{path}{name}.bias"]
        for name in ("query", "key", "value")
    )
    heads = np.einsum("bhts,bshd->bthd", softmax(np.einsum("bthd,bshd->bhts", q, k) / 4), v)
    got = np.einsum("bthd,hdo->bto", heads, theirs[path + "out.kernel"]) + theirs[path + "out.bias"]
    np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-9)


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def step(gates: list[np.ndarray], c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    i, f, g, o = gates
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


@pytest.mark.parametrize("fused", [False, True])
@given(seed=st.integers(0, 2**32))
def test_an_lstm_gives_the_same(fused: bool, seed: int) -> None:
    values = values_of(LSTM[0], seed)
    theirs = ported("nnx_lstm" if fused else "lstm", values)
    draw = np.random.default_rng(seed + 1).normal
    x, h, c = draw(size=(3, 5)), draw(size=(3, 8)), draw(size=(3, 8))
    both = values["lstm.bias_ih_l0"] + values["lstm.bias_hh_l0"]
    all_gates = x @ values["lstm.weight_ih_l0"].T + h @ values["lstm.weight_hh_l0"].T + both
    right = step(np.split(all_gates, 4, -1), c)
    if fused:
        cell = "cells.0.dense_"
        gates = x @ theirs[f"{cell}i.kernel"] + h @ theirs[f"{cell}h.kernel"] + theirs[f"{cell}h.bias"]
        got = step(np.split(gates, 4, -1), c)
    else:
        cell = "OptimizedLSTMCell_0."
        got = step(
            [
                x @ theirs[f"{cell}i{gate}.kernel"]
                + h @ theirs[f"{cell}h{gate}.kernel"]
                + theirs[f"{cell}h{gate}.bias"]
                for gate in "ifgo"
            ],
            c,
        )
    np.testing.assert_allclose(got, right, rtol=1e-9, atol=1e-12)


# What can't be known isn't guessed.


def left(first: list[Leaf], port: list[Leaf], written: dict[str, str] | None = None) -> dict[str, tuple[str, ...]]:
    return {each.leaf: each.partners for each in match(first, port, written or {}).unmatched}


TWO = leaves("fc1.weight 8x8 linear\nfc1.bias 8 linear\nfc2.weight 8x8 linear\nfc2.bias 8 linear")
SWAPPED = leaves("fc2.kernel 8x8 linear\nfc2.bias 8 linear\nfc1.kernel 8x8 linear\nfc1.bias 8 linear")


def test_layers_whose_numbers_and_order_disagree_are_left() -> None:
    found = match(TWO, SWAPPED)
    assert found.weights == {}
    assert {each.leaf: each.partners[0] for each in found.unmatched if each.of_port} == {
        f"fc{n}.{port}": f"fc{n}.{first}" for n in (1, 2) for port, first in (("kernel", "weight"), ("bias", "bias"))
    }


def test_a_written_weight_takes_its_bias_along_and_leaves_one_way_for_the_other() -> None:
    found = match(TWO, SWAPPED, {"fc2.kernel": "fc1.weight.T"})
    assert found.weights == {
        "fc2.kernel": "fc1.weight.T",
        "fc2.bias": "fc1.bias",
        "fc1.kernel": "fc2.weight.T",
        "fc1.bias": "fc2.bias",
    }


def test_layers_whose_words_and_order_disagree_are_left_until_one_is_written() -> None:
    """By its words alone, the norm before attention would get the values of the one after it."""
    first, port, expected = LLAMA
    names = {"input_layernorm": "pre_attention_norm", "post_attention_layernorm": "pre_mlp_norm"}

    def renamed(text: str) -> str:
        for old, new in names.items():
            text = text.replace(old, new)
        return text

    port = [replace(leaf, name=renamed(leaf.name)) for leaf in port]
    expected = {renamed(name): expression for name, expression in expected.items()}
    found = match(first, port)
    assert {each.leaf for each in found.unmatched if each.of_port} == {it for it in expected if "pre_" in it}
    assert found.weights == {name: it for name, it in expected.items() if "pre_" not in name}
    one = {"blocks.0.pre_mlp_norm.scale": "model.layers.0.post_attention_layernorm.weight"}
    assert match(first, port, one).weights == expected


def test_a_missing_bias_is_left_and_its_layer_is_not() -> None:
    first, port, expected = MLP
    port = [leaf for leaf in port if leaf.name != "params.Dense_1.bias"]
    found = match(first, port)
    assert found.weights == {name: it for name, it in expected.items() if name != "params.Dense_1.bias"}
    assert [(each.leaf, each.of_port) for each in found.unmatched] == [("fc2.bias", False)]
    assert {*found.unmatched[0].partners} > {"params.Dense_0.bias", "params.Dense_2.bias"}


def test_a_head_left_out_is_left() -> None:
    first, port, _ = VIT
    found = left(first, [leaf for leaf in port if not leaf.name.startswith("head.")])
    assert found.keys() == {"heads.head.weight", "heads.head.bias"}
    assert all(len(partners) == 3 for partners in found.values())
    assert left([leaf for leaf in first if "head." not in leaf.name], port).keys() == {"head.kernel", "head.bias"}


def test_fewer_heads_of_another_size_are_left() -> None:
    """Queries of two heads in place of four, whose values alone are as many."""
    first, port, _ = VIT
    port = [replace(leaf, shape=(64, 2, 16)) if leaf.name.endswith("query.kernel") else leaf for leaf in port]
    assert "Transformer.encoderblock_0.MultiHeadDotProductAttention_0.query.kernel" in left(first, port)


@pytest.mark.parametrize("kind", ["conv", "conv_transpose"])
def test_a_square_transposed_convolution_is_left_and_a_convolution_is_not(kind: str) -> None:
    first = leaves(f"up.weight 8x8x2x2 {kind}\nup.bias 8 {kind}")
    port = leaves(f"Conv_0.kernel 2x2x8x8 {kind}\nConv_0.bias 8 {kind}")
    expected = {"Conv_0.bias": "up.bias"}
    if kind == "conv":
        expected["Conv_0.kernel"] = "up.weight.transpose(2, 3, 1, 0)"
    assert match(first, port).weights == expected
    assert left(first, port).keys() == ({*()} if kind == "conv" else {"up.weight", "Conv_0.kernel"})


def test_a_square_matrix_of_no_known_kind_is_left() -> None:
    assert match(leaves("fc.weight 8x8 linear"), leaves("dense.w 8x8 other")).weights == {}
    assert match(leaves("fc.weight 8x4 linear"), leaves("dense.w 4x8 other")).weights == {"dense.w": "fc.weight.T"}


APART = "attn.q.weight 18x18 linear\nattn.k.weight 18x18 linear\nattn.v.weight 18x18 linear"
ONE = "attn.qkv.weight 54x18 linear"


@pytest.mark.parametrize(
    ("first", "port"),
    [
        (APART, "attn.qkv.kernel 18x2x27 linear"),  # in Flax's (inputs, heads, 3 · size) they alternate
        (APART, "attn.qkv.kernel 18x3x3x6 linear"),  # three heads, or queries, keys and values
        (APART, "attn.query_key_value.kernel 18x54 linear"),
        (ONE, "attn.query_key_value.kernel 18x54 linear"),
        (APART, "mixer.in_proj.kernel 18x54 linear"),  # a state-space model's
        (APART, "mlp.kernel 18x54 linear"),
        (APART.replace("weight 18x18", "bias 18"), "attn.qkv.bias 3x3x6 linear"),
    ],
)
def test_queries_keys_and_values_in_an_unknown_order_are_left(first: str, port: str) -> None:
    assert match(leaves(first), leaves(port)).weights == {}
    assert match(leaves(port), leaves(first)).weights == {}
    known = match(leaves(ONE), leaves("attn.qkv.kernel 18x3x2x9 linear")).weights
    assert known == {"attn.qkv.kernel": "attn.qkv.weight.T.reshape(18, 3, 2, 9)"}


def test_layers_called_like_gates_are_no_cell() -> None:
    first = leaves("in.weight 8x4 linear\nin.bias 8 linear\nio.weight 2x8 linear")
    port = leaves("in.kernel 4x8 linear\nin.bias 8 linear\nio.kernel 8x2 linear")
    assert match(first, port).weights == {"in.kernel": "in.weight.T", "in.bias": "in.bias", "io.kernel": "io.weight.T"}


def test_a_square_layer_that_only_the_port_has_is_no_embedding() -> None:
    first, port = leaves("pos.weight 8x8 embedding"), leaves("pos.embedding 8x8 embedding\nextra.kernel 8x8 linear")
    assert match(first, port).weights == {"pos.embedding": "pos.weight"}
    assert left(first, port).keys() == {"extra.kernel"}


def test_a_word_in_common_is_too_little_where_one_model_has_more() -> None:
    """The one norm of a port is the one before attention, though its name is likest to that of the other."""
    first = leaves("input_layernorm.weight 8 layer_norm\npost_attention_layernorm.weight 8 layer_norm")
    assert match(first, leaves("pre_attention_norm.scale 8 layer_norm")).weights == {}


def test_an_order_in_which_one_layer_does_not_fit_says_nothing_of_the_others() -> None:
    """In order, the layer norm would get the values of the port's norm of no known kind."""
    first = leaves("a.weight 8 layer_norm\nb.weight 8 batch_norm")
    assert match(first, leaves("x.scale 8 other\ny.scale 8 layer_norm")).weights == {}


def test_a_gru_with_one_bias_has_no_other_with_two() -> None:
    """One of the two is multiplied by the reset gate."""
    first = PAIRS["gru"][0]
    port = leaves("cell.dense_h.kernel 8x24 gru\ncell.dense_i.bias 24 gru\ncell.dense_i.kernel 5x24 gru")
    assert match(first, port).weights == {}


def test_a_buffer_is_no_parameter() -> None:
    assert match(leaves("scale* 8 other"), leaves("scale 8 other")).weights == {}


def test_a_convolution_over_one_element_is_a_linear_layer_where_the_other_model_has_one() -> None:
    first = leaves("up.kernel 9x24 linear\nup.bias 24 linear\nmix.kernel 1x1x24x24 conv")
    port = leaves("up.weight 24x9x1 conv\nup.bias 24 conv\nmix.weight 24x24x1x1 conv")
    mixed = {"mix.weight": "mix.kernel.transpose(3, 2, 0, 1)"}
    assert match(first, port).weights == {"up.weight": "up.kernel.T.reshape(24, 9, 1)", "up.bias": "up.bias"} | mixed
    assert match(port, first).weights["up.kernel"] == "up.weight.reshape(24, 9).T"
    wide = leaves("up.weight 24x9x3 conv")
    assert match(leaves("up.kernel 27x24 linear"), wide).weights == {}


def test_layers_of_another_kind_are_left() -> None:
    assert match(leaves("norm.weight 8 layer_norm"), leaves("norm.scale 8 batch_norm")).weights == {}


def test_a_tied_head_whose_weights_the_first_model_has_apart_is_not_its_embedding() -> None:
    first = leaves("embed.weight 9x4 embedding\nhead.weight 9x4 linear")
    port = leaves("embed.embedding 9x4 embedding\nhead.kernel 4x9 linear")
    assert match(first, port).weights == {"embed.embedding": "embed.weight", "head.kernel": "head.weight.T"}


def test_models_with_lists_of_arrays_have_numbers_as_names() -> None:
    first = leaves("fc1.weight 8x4 linear\nfc1.bias 8 linear\nfc2.weight 2x8 linear\nfc2.bias 2 linear")
    port = leaves("0 4x8 linear\n1 8 linear")
    assert shape_of("'0'.T", {leaf.name: leaf.shape for leaf in port}) == (8, 4)
    assert {each.leaf for each in match(first, port).unmatched} >= {"fc2.weight", "fc2.bias"}


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ({"final.kernel": "final.weight"}, "the port has no leaf final.kernel. Nearest: "),
        ({"Conv_0.bias": "final.biass"}, "no leaf final.biass. Nearest: final.bias, "),
        (
            {"Conv_0.kernel": "final.weight"},
            "but `final.weight` is (1, 8, 1, 1). This fits: final.weight.transpose(2, 3, 1, 0)",
        ),
        ({"Conv_0.bias": "final.bias ** 2"}, "final.bias ** 2"),
    ],
)
def test_a_wrong_entry_is_refused(written: dict[str, str], words: str) -> None:
    with pytest.raises(UserError) as refused:
        match(*UNET[:2], written)
    assert words in str(refused.value)


@settings(max_examples=30)
@given(st.permutations(range(len(VIT[1]))))
def test_whatever_the_order_no_two_models_are_mixed_up(order: list[int]) -> None:
    """A port whose leaves come in any order has what the right order gives, or nothing."""
    first, port, expected = VIT
    found = match(first, [port[place] for place in order]).weights
    assert {name: expected[name] for name in found} == found


PATHS = st.lists(st.sampled_from(["q", "k", "v", "qkv", "layers", "0", "1", "fc1", "fc2", "norm", "hi"]), max_size=3)
LAST = st.sampled_from(["weight", "kernel", "bias", "in_proj_weight", "weight_ih_l0", "bias_hh_l0", "mean", "7", "x"])
KINDS = st.sampled_from(["linear", "conv", "conv_transpose", "embedding", "layer_norm", "lstm", "attention", "other"])
LEAVES = st.builds(
    lambda path, last, shape, kind, trained: Leaf(".".join([*path, last]), tuple(shape), kind, trained),
    PATHS, LAST, st.lists(st.sampled_from([1, 2, 3, 6]), max_size=4), KINDS, st.booleans(),
)  # fmt: skip
MODELS = st.lists(LEAVES, max_size=8, unique_by=lambda leaf: leaf.name)


@given(MODELS, MODELS)
def test_whatever_two_models_are_each_leaf_has_an_expression_of_its_shape_or_is_left(
    first: list[Leaf], port: list[Leaf]
) -> None:
    found = match(first, port)
    shapes = {leaf.name: leaf.shape for leaf in first}
    left_over = {each.leaf for each in found.unmatched if each.of_port}
    for leaf in port:
        assert (leaf.name in found.weights) != (leaf.name in left_over)
        if leaf.name in found.weights:
            assert shape_of(found.weights[leaf.name], shapes) == leaf.shape
