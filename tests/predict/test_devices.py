"""The accelerators that a prediction can be for."""

from __future__ import annotations

import pytest

from suite.errors import UserError
from suite.predict.devices import devices, find, first

V6E = find("v6e-1")
H100 = find("h100")


def test_a_mistyped_device_is_refused_with_the_near_one() -> None:
    with pytest.raises(UserError, match=r"no device 'v6-1'\. Did you mean 'v6e-1'\? Known: a100, h100"):
        find("v6-1")
    with pytest.raises(UserError, match="h100 is a device of --target=cuda, not of tpu"):
        find("h100", "tpu")
    assert first("cuda") is H100 and first("tpu") is V6E
    with pytest.raises(UserError, match="Prediction has no target 'cpu'"):
        first("cpu")


def test_every_device_has_a_chip_and_what_its_compiler_needs() -> None:
    for device in devices().values():
        assert bool(device.chips and device.accelerator_type) == (device.target == "tpu")
        assert bool(device.target_config) == (device.target == "cuda")


def test_the_bound_is_the_slower_of_arithmetic_and_memory() -> None:
    assert V6E.bound(918e12, 1.0, "bf16") == (1.0, "arithmetic")
    seconds, by = V6E.bound(1.0, 1.64e12 + 2 * V6E.chip.on_chip_bytes, "bf16")
    assert (seconds, by) == (pytest.approx(1.0), "memory")
    assert V6E.bound(918e12, 1.0, "f32") == (1.0, "arithmetic"), "no f32 peak is published: none exceeds bf16's"
    assert H100.bound(66.9e12, 1.0, "f32")[0] == H100.bound(494.7e12, 1.0, "tf32")[0] == 1.0


def test_a_gpu_is_described_as_its_compiler_takes_it() -> None:
    text = H100.target_config
    assert text.count("{") == text.count("}")
    for line in ("core_count: 132", "device_memory_size: 84942979072", "memory_bandwidth: 3352320000000"):
        assert f"  {line}\n" in text
    assert "major: 9 minor: 0 feature_extension: ACCELERATED_FEATURES" in text
    assert "feature_extension: NONE" in find("a100").target_config
