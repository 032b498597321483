"""The operations' specs: gradients, work counted by hand, and the NumPy dialect against the reference."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from suite.errors import UserError
from suite.workloads.catalog import Workload, find
from suite.workloads.tensors import generate_all

OPS = ("gemm", "ffn", "mha", "selu", "rnn")
WORKLOADS = find()
Tensors = dict[str, NDArray[np.float64]]


def tensors(workload: Workload, dims: Mapping[str, int], seed: int = 0) -> tuple[Tensors, Tensors, Any]:
    """(parameters, inputs, target) in float64, as the worker makes them."""
    spec = workload.spec
    groups = {"parameter": spec.parameters(dims), "batch": {**spec.inputs(dims), "target": spec.target(dims)}}
    made = {
        group: {name: value.astype(np.float64) for name, value in generate_all(asked, group, seed)}
        for group, asked in groups.items()
    }
    target = made["batch"].pop("target")
    return made["parameter"], made["batch"], target


def test_the_operations_are_there_in_all_dialects() -> None:
    assert set(OPS) <= set(WORKLOADS)
    for name in OPS:
        assert set(WORKLOADS[name].dialects) == {"numpy", "jax", "torch", "tf", "keras"}
        assert set(WORKLOADS[name].sizes) >= {"tiny", "quick", "full"}
        assert WORKLOADS[name].spec.PASSES == ("forward", "train")


@pytest.mark.parametrize("name", OPS)
def test_reference_gradients_are_the_slopes_of_its_loss(name: str) -> None:
    """Central differences in float64, along random directions and single values."""
    workload = WORKLOADS[name]
    dims = workload.dims("tiny", {})
    parameters, inputs, target = tensors(workload, dims)
    answer = workload.spec.reference(dims, parameters, **inputs, target=target)
    random = np.random.default_rng(0)
    step = 1e-5

    def loss(changed: Tensors) -> float:
        return float(workload.spec.reference(dims, parameters | changed, **inputs, target=target)["loss"])

    assert set(answer) == {"output", "loss", *parameters}
    for parameter, value in parameters.items():
        gradient = answer[parameter]
        assert gradient.shape == value.shape and gradient.dtype == np.float64
        directions = [random.normal(size=value.shape) for _ in range(3)]
        for index in random.choice(value.size, 5):
            single = np.zeros(value.size)
            single[index] = 1.0
            directions.append(single.reshape(value.shape))
        for direction in directions:
            above, below = (loss({parameter: value + sign * step * direction}) for sign in (1, -1))
            slope = (above - below) / (2 * step)
            expected = float(np.sum(gradient * direction))
            scale = float(np.linalg.norm(gradient) * np.linalg.norm(direction))
            assert abs(slope - expected) <= 1e-6 * scale, parameter


@pytest.mark.parametrize("name", OPS)
def test_output_and_loss_need_no_target(name: str) -> None:
    workload = WORKLOADS[name]
    dims = workload.dims("tiny", {})
    parameters, inputs, target = tensors(workload, dims)
    alone = workload.spec.reference(dims, parameters, **inputs)
    both = workload.spec.reference(dims, parameters, **inputs, target=target)
    assert set(alone) == {"output"}
    assert np.array_equal(alone["output"], both["output"])
    assert both["loss"] == pytest.approx(np.mean((both["output"] - target) ** 2))
    assert workload.spec.target(dims).shape == alone["output"].shape


def test_ffn_by_hand() -> None:
    """One token, one hidden unit: y = gelu(x w + b) v + c with gelu(1) = 0.84119199 in tanh's form."""
    spec = WORKLOADS["ffn"].spec
    dims = {"batch": 1, "seq": 1, "width": 1, "hidden": 1}
    one = {
        "up.weight": np.array([[0.5]]),
        "up.bias": np.array([0.5]),
        "down.weight": np.array([[2.0]]),
        "down.bias": np.array([0.25]),
    }
    found = spec.reference(dims, one, x=np.ones((1, 1, 1)))["output"].item()
    assert found == pytest.approx(2 * 0.8411919906082768 + 0.25, rel=1e-12)


def test_mha_by_hand() -> None:
    """Equal keys give equal shares: every token's answer is the mean of the values."""
    spec = WORKLOADS["mha"].spec
    dims = {"batch": 1, "seq": 4, "heads": 2, "width": 4}
    w = np.concatenate([np.zeros((4, 8)), np.eye(4)], axis=1)
    parameters = {"qkv.weight": w, "qkv.bias": np.zeros(12), "out.weight": np.eye(4), "out.bias": np.zeros(4)}
    x = np.arange(16.0).reshape(1, 4, 4)
    found = spec.reference(dims, parameters, x=x)["output"]
    assert found == pytest.approx(np.broadcast_to(x.mean(axis=1, keepdims=True), (1, 4, 4)))


def test_selu_by_hand() -> None:
    spec = WORKLOADS["selu"].spec
    found = spec.reference({"n": 2}, {"x": np.array([[2.0, 0.0], [-1.0, -50.0]])}, target=np.zeros((2, 2)))
    assert found["output"] == pytest.approx(np.array([[2.1, 0.0], [1.05 * 1.67 * (np.exp(-1) - 1), -1.05 * 1.67]]))
    assert found["x"][0, 1] == 0.0  # the error is 0 there


def test_rnn_by_hand() -> None:
    """Gates in the order i, f, g, o, all of them from the bias in the first step: sigmoid(1), sigmoid(2), tanh(3),
    sigmoid(4). In the second, the first's hidden state moves the forget gate."""
    spec = WORKLOADS["rnn"].spec
    parameters = {
        "lstm.weight_ih_l0": np.zeros((1, 4)),
        "lstm.weight_hh_l0": np.array([[0.0, 1.0, 0.0, 0.0]]),
        "lstm.bias_ih_l0": np.array([1.0, 2.0, 3.0, 4.0]),
    }
    dims = {"batch": 1, "seq": 2, "width": 1, "hidden": 1}
    cell = 0.7310585786300049 * 0.9950547536867305  # sigmoid(1) tanh(3)
    first = 0.9820137900379085 * np.tanh(cell)  # sigmoid(4)
    second = 0.9820137900379085 * np.tanh(cell / (1.0 + np.exp(-2.0 - first)) + cell)
    found = spec.reference(dims, parameters, x=np.ones((1, 2, 1)))["output"].ravel()
    assert found == pytest.approx([first, second], rel=1e-12)


# Counted by hand: gemm n=4, and A 2 x 8, B 8 x 4; ffn 2 x 3 tokens, 4 -> 8 -> 4; mha 2 x 3 tokens, 2 heads of 2;
# selu n=4; rnn 2 x 3 steps, 4 -> 2.
HAND = [
    ("gemm", {"n": 4}, 2 * 64, 4 * 64, 3 * 16 * 4, 8 * 16 * 4, 16),
    ("gemm", {"n": 4, "m": 2, "k": 8}, 2 * 64, 4 * 64, 4 * (16 + 32 + 8), 4 * (16 + 8 + 6 * 32), 32),
    ("ffn", {"batch": 2, "seq": 3, "width": 4, "hidden": 8}, 2 * 384, 5 * 384, 4 * 76 + 8 * 24, 24 * 76 + 8 * 24, 76),
    (
        "mha",
        {"batch": 2, "seq": 3, "heads": 2, "width": 4},
        576 + 192 + 288,
        2 * 576 + 3 * 192 + 3 * 288,
        4 * 80 + 8 * 24,
        24 * 80 + 8 * 24,
        80,
    ),
    ("selu", {"n": 4}, 0, 0, 2 * 64, 3 * 64, 16),
    (
        "rnn",
        {"batch": 2, "seq": 3, "width": 4, "hidden": 2},
        384 + 192,
        2 * 384 + 3 * 192,
        4 * 56 + 4 * (24 + 12),
        24 * 56 + 4 * (24 + 12),
        56,
    ),
]


@pytest.mark.parametrize(("name", "dims", "forward", "train", "bytes_forward", "bytes_train", "parameters"), HAND)
def test_work_by_hand(
    name: str, dims: dict[str, int], forward: int, train: int, bytes_forward: int, bytes_train: int, parameters: int
) -> None:
    spec = WORKLOADS[name].spec
    assert (spec.flops(dims, "forward"), spec.flops(dims, "train")) == (forward, train)
    assert (spec.bytes_floor(dims, "forward"), spec.bytes_floor(dims, "train")) == (bytes_forward, bytes_train)
    assert sum(tensor.size for tensor in spec.parameters(dims).values()) == parameters


def test_a_product_is_square_unless_m_or_k_is_given() -> None:
    gemm = WORKLOADS["gemm"]
    assert gemm.dims("tiny", {"m": 64, "k": 64}) == gemm.dims("tiny", {}) == {"n": 64}, "one question has one name"
    assert gemm.dims("tiny", {"k": 8}) == {"n": 64, "k": 8}
    assert [
        tensor.shape
        for tensor in (gemm.spec.inputs({"n": 4, "m": 2})["a"], gemm.spec.parameters({"n": 4, "k": 3})["b"])
    ] == [(2, 4), (3, 4)]


def test_the_original_study_s_shapes() -> None:
    assert WORKLOADS["gemm"].dims("full", {}) == {"n": 3000}
    assert WORKLOADS["gemm"].dims("quick", {}) == {"n": 1024}
    assert WORKLOADS["ffn"].dims("full", {}) == {"batch": 2, "seq": 64, "width": 768, "hidden": 3072}
    assert WORKLOADS["mha"].dims("full", {}) == {"batch": 2, "seq": 64, "heads": 12, "width": 768}
    assert WORKLOADS["selu"].dims("full", {}) == {"n": 3000}


@pytest.mark.parametrize(
    ("name", "count", "unit"),
    [("gemm", 64, "rows"), ("ffn", 8, "tokens"), ("mha", 12, "tokens"), ("selu", 64, "rows"), ("rnn", 12, "tokens")],
)
def test_items(name: str, count: int, unit: str) -> None:
    assert WORKLOADS[name].spec.items(WORKLOADS[name].dims("tiny", {})) == (count, unit)


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("wrong", [{"nn": 3}, {"n": 0}, {"batch": -1}])
def test_wrong_dims_are_refused(name: str, wrong: dict[str, int]) -> None:
    with pytest.raises(UserError, match=name):
        WORKLOADS[name].dims("tiny", wrong)


@pytest.mark.parametrize("name", OPS)
@pytest.mark.parametrize("overrides", [{}, {"batch": 1, "seq": 1}])
def test_the_numpy_dialect_computes_the_reference(name: str, overrides: dict[str, int]) -> None:
    workload = WORKLOADS[name]
    dims = workload.dims("tiny", {k: v for k, v in overrides.items() if k in workload.sizes["tiny"]})
    parameters, inputs, target = tensors(workload, dims, seed=5)
    expected = workload.spec.reference(dims, parameters, **inputs, target=target)
    dialect = workload.dialect("numpy")
    single = {name: value.astype(np.float32) for name, value in (parameters | inputs | {"target": target}).items()}
    kept = {name: value.copy() for name, value in single.items()}
    weights = {name: single[name] for name in parameters}
    batch = {name: single[name] for name in inputs}
    output = dialect.forward(dims, weights, **batch)
    loss, gradients = dialect.loss_and_gradients(dims, weights, **batch, target=single["target"])
    assert set(gradients) == set(parameters)
    for what, actual in {"output": output, "loss": np.asarray(loss), **gradients}.items():
        assert actual.dtype == np.float32, f"{what} left float32"
        assert actual.shape == np.shape(expected[what])
        error = np.linalg.norm((actual - expected[what]).ravel())
        assert error <= 1e-6 * np.linalg.norm(expected[what].ravel()), what  # 0 of rnn's recurrence, at one step
    assert all(np.array_equal(single[name], kept[name]) for name in kept), "a dialect changed its arguments"


def test_gpt2_s_forward_pass_reads_only_the_positions_of_its_sequence() -> None:
    """Weights but for the unread rows, and logits; training moves every row, by weight decay."""
    spec = WORKLOADS["gpt2"].spec
    dims = spec.SIZES["full"] | {"batch": 2, "seq": 64}
    shorter = dims | {"positions": 64}
    weights = sum(tensor.nbytes for tensor in spec.parameters(shorter).values())
    assert spec.bytes_floor(dims, "forward") == weights + 4 * 2 * 64 * dims["vocab"]
    assert spec.bytes_floor(dims, "train") == 6 * sum(tensor.nbytes for tensor in spec.parameters(dims).values())
