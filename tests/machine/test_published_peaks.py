"""The makers' peaks: every chip is whole and sourced, and is found by each of its names."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.errors import UserError
from suite.machine.published_peaks import FILE, PRECISIONS, chip, peaks_of, published_peaks

PEAKS = published_peaks()
CORES = {"h100": (132, 128, 1.98e9), "h100-pcie": (114, 128, 1.755e9), "a100": (108, 64, 1.41e9)}


@pytest.mark.parametrize("name", PEAKS)
def test_a_chip_is_whole(name: str) -> None:
    peaks = PEAKS[name]
    assert peaks.target in ("tpu", "cuda") and peaks.flops_per_second
    assert all(source.url.startswith("https://") and source.title and source.has for source in peaks.sources)
    assert 1e9 < peaks.memory_bytes < 1e12 and 1e11 < peaks.bytes_per_second < 1e13, "bytes, not gigabytes"
    assert all(1e12 < rate < 1e16 for rate in peaks.flops_per_second.values()), "not teraflops"
    assert 0 < peaks.on_chip_bytes < peaks.memory_bytes / 50
    published = [peaks.flops_per_second[p] for p in PRECISIONS if p in peaks.flops_per_second]
    assert published == sorted(published), "no precision is faster than a narrower one"


@pytest.mark.parametrize("name", CORES)
def test_a_gpu_has_two_operations_in_each_core_and_cycle(name: str) -> None:
    units, cores, clock = CORES[name]
    assert PEAKS[name].flops_per_second["f32"] == pytest.approx(2 * units * cores * clock, rel=2e-3)


@pytest.mark.parametrize(
    ("device", "name"),
    [
        ("v6e", "v6e"),
        ("v6e-1", "v6e"),
        ("TPU v6 lite", "v6e"),
        ("h100", "h100"),
        ("NVIDIA H100 80GB HBM3", "h100"),
        ("NVIDIA H100 PCIe", "h100-pcie"),
        ("NVIDIA H200", "h200"),
    ],
)
def test_a_chip_is_found_by_each_of_its_names(device: str, name: str) -> None:
    found = peaks_of(device)
    assert found is not None and found.name == name


@pytest.mark.parametrize("device", ["cpu", "cuda", "tpu", "v6e-8", "NVIDIA H100", ""])
def test_several_chips_or_an_unknown_one_have_no_peaks(device: str) -> None:
    assert peaks_of(device) is None


def test_no_two_chips_share_a_name() -> None:
    names = [name.lower() for peaks in PEAKS.values() for name in (peaks.name, *peaks.reported)]
    assert len(names) == len(set(names))


def test_a_tpu_is_no_faster_in_float32_than_in_bfloat16() -> None:
    roof = PEAKS["v6e"].roofline()
    assert set(roof.flops_per_second) == set(PRECISIONS)
    assert roof.seconds(918e12, 0, "f32") == pytest.approx(1.0)


def test_bytes_that_may_stay_on_the_chip_take_no_time() -> None:
    roof = PEAKS["v6e"].roofline()
    assert roof.moving_seconds(2 * 128 * 2**20) == 0.0
    assert roof.moving_seconds(2 * 128 * 2**20 + 1.64e12) == pytest.approx(1.0)


def test_a_precision_narrower_than_all_published_ones_has_no_roof() -> None:
    assert set(PEAKS["t4"].roofline().flops_per_second) == {"f32"}


def test_a_damaged_table_is_refused_by_name() -> None:
    table = {"target": "tpu", "title": "x", "reported": [], "memory_bytes": 1, "bytes_per_second": 1.0}
    with pytest.raises(UserError, match=r"\[v9\]: a key is missing"):
        chip("v9", table, FILE)
    whole = {**table, "on_chip_bytes": 0, "flops_per_second": {"fp8": 1.0}, "sources": []}
    with pytest.raises(UserError, match="a precision one of"):
        chip("v9", whole, FILE)


def test_an_unreadable_file_is_refused(tmp_path: Path) -> None:
    published_peaks.cache_clear()
    (tmp_path / "peaks.toml").write_text("[v4", encoding="utf-8")
    with pytest.raises(UserError, match="can't be read"):
        published_peaks(tmp_path / "peaks.toml")
