"""The models' specs, by arithmetic alone: published parameter counts, training state, work."""

from __future__ import annotations

import numpy as np
import pytest

from suite.errors import UserError
from suite.reference.floor import floor
from suite.workloads.catalog import find
from suite.workloads.tensors import Integers, Normal, generate

PUBLISHED = {
    "bert": 109_514_298,
    "decode": 124_439_808,
    "gpt2": 124_439_808,
    "gpt_neo": 1_315_575_808,
    "llama": 8_030_261_248,
    "resnet50": 25_557_032,
    "vit": 86_567_656,
}
WORKLOADS = find()
MODELS = {name: workload for name, workload in WORKLOADS.items() if (workload.folder / "oracle.py").exists()}
TRAINED = [name for name, workload in MODELS.items() if "train" in workload.spec.PASSES]


def test_every_model_is_known_here() -> None:
    assert set(MODELS) == set(PUBLISHED)
    assert set(MODELS) - set(TRAINED) == {"decode"}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_model_has_the_published_number_of_parameters(name: str) -> None:
    workload = MODELS[name]
    tensors = workload.spec.parameters(workload.dims("full", {}))
    assert sum(tensor.size for tensor in tensors.values()) == PUBLISHED[name]


@pytest.mark.parametrize("name", TRAINED)
def test_training_keeps_parameters_moments_and_statistics(name: str) -> None:
    workload = MODELS[name]
    dims = workload.dims("full", {})
    # 26,560 channels of batch norms in ResNet-50, a mean and a variance each; AdamW has two moments, SGD one.
    expected = {"resnet50": 2 * PUBLISHED["resnet50"] + 2 * 26_560}.get(name, 3 * PUBLISHED[name])
    assert floor(workload, dims, "train").state == 4 * expected


@pytest.mark.parametrize("name", MODELS)
def test_a_model_is_whole(name: str) -> None:
    workload = MODELS[name]
    assert set(workload.dialects) - {"keras"} == {"jax", "torch", "tf"}
    assert set(workload.sizes) >= {"tiny", "odd", "small", "full"}
    for size in ("tiny", "odd", "small"):
        assert (workload.folder / "golden" / f"{size}.npz").exists()
    dims = workload.dims("full", {})
    forward, train = (workload.spec.flops(dims, pass_) for pass_ in ("forward", "train"))
    assert 2 * forward < train <= 3 * forward or name not in TRAINED


@pytest.mark.parametrize(
    ("name", "dims", "rule"),
    [
        ("mha", {"heads": 3}, r"mha.*tiny.*width=16 must be a multiple of heads=3"),
        ("bert", {"seq": 4096}, "must not exceed positions"),
        ("bert", {"heads": 5}, "must be a multiple of heads=5"),
        ("gpt2", {"seq": 4096}, "must not exceed positions"),
        ("gpt2", {"heads": 5}, "must be a multiple of heads=5"),
        ("decode", {"seq": 17}, "seq=17 must not exceed positions=16"),
        ("decode", {"heads": 5}, "must be a multiple of heads=5"),
        ("gpt_neo", {"seq": 4096}, "must not exceed positions"),
        ("gpt_neo", {"heads": 5}, "must be a multiple of heads=5"),
        ("llama", {"seq": 4096}, "must not exceed positions"),
        ("llama", {"kv_heads": 3}, "must be a multiple of kv_heads=3"),
        ("llama", {"heads": 64, "kv_heads": 1}, "must be even"),
        ("vit", {"heads": 5}, "must be a multiple of heads=5"),
        ("vit", {"image": 33}, "must be a multiple of patch"),
        ("resnet50", {"batch": 1, "image": 32}, "one value a channel"),
        *((name, {"batch": 0}, "must be at least 1") for name in PUBLISHED),
    ],
)
def test_dims_that_break_a_rule_are_refused_by_name(name: str, dims: dict[str, int], rule: str) -> None:
    with pytest.raises(UserError, match=rule):
        WORKLOADS[name].dims("tiny", dims)


def test_a_gpt2_step_is_counted_by_hand() -> None:
    spec = MODELS["gpt2"].spec
    dims = {"batch": 1, "seq": 2, "layers": 1, "heads": 1, "width": 3, "hidden": 5, "vocab": 7, "positions": 2}
    products = 2 * (3 * 9 + 3 * 3 + 3 * 5 + 5 * 3 + 3 * 7)
    attention = 2 * (2 * 3 * 2)
    assert spec.flops(dims, "forward") == 2 * (products + attention)
    assert spec.flops(dims, "train") == 3 * spec.flops(dims, "forward")


def test_decoding_is_a_forward_pass_whose_calls_read_the_weights() -> None:
    decode, gpt2 = MODELS["decode"].spec, MODELS["gpt2"].spec
    small, full = (MODELS["decode"].dims(size, {}) for size in ("small", "full"))
    assert decode.parameters(full) == gpt2.parameters(full)
    assert decode.flops(full, "forward") == gpt2.flops(full, "forward")
    read = 4 * (124_439_808 - 1024 * 768)  # all but the positions: at `full` no cache of a processor keeps so much
    assert decode.bytes_floor(full, "forward") == 128 * read + 4 * 128 * 768 + 4 * (128 + 50257)
    few = sum(tensor.size for name, tensor in decode.parameters(small).items() if name != "positions.weight")
    assert decode.bytes_floor(small, "forward") == 4 * (few + 32 * 256 + 32 + 8192)
    assert decode.bytes_floor(full | {"batch": 8}, "forward") - decode.bytes_floor(full, "forward") == 7 * 4 * 50385


def test_whole_numbers_are_uniform_below_their_bound() -> None:
    values = generate(Integers((10_000,), 7), "ids", 0)
    assert values.dtype == np.int32
    counts = np.bincount(values, minlength=7)
    assert counts.size == 7
    assert counts.min() > 1200
    np.testing.assert_array_equal(values, generate(Integers((10_000,), 7), "ids", 0))
    assert (values != generate(Integers((10_000,), 7), "ids", 1)).any()


def test_a_mean_is_added_and_no_spread_makes_a_constant() -> None:
    assert set(generate(Normal((3,), 0.0, 1.0), "ones", 0)) == {1.0}
    assert abs(generate(Normal((10_000,), 0.1, 1.0), "scale", 0).mean() - 1.0) < 0.01
