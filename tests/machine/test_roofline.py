"""The machine's roofline: really swept on small arrays, and what the report makes of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.machine import facts, roofline
from suite.machine.roofline import Roofline


def test_a_sweep_finds_positive_rates_of_these_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roofline, "SIDES", (64, 128))
    monkeypatch.setattr(roofline, "last_level_cache_bytes", lambda: 1 << 16)
    found = roofline.sweep(facts.usable_cores())
    assert found["threads"] == len(facts.usable_cores())
    assert set(found["gemm_flops_per_second"]) == {"64", "128"}
    assert found["flops_per_second_best"] == max(found["gemm_flops_per_second"].values()) > 1e6
    assert found["bytes_per_second_best"] == max(found["bytes_per_second"].values()) > 1e6


def test_the_cache_is_the_largest_one() -> None:
    sizes = [p.read_text().strip() for p in Path("/sys/devices/system/cpu/cpu0/cache").glob("index*/size")]
    assert roofline.last_level_cache_bytes() >= max((1024 * int(size.rstrip("K")) for size in sizes), default=1)


@pytest.mark.parametrize(
    ("flops", "floor", "seconds"), [(1000, 10, 10.0), (100, 100, 10.0), (0, 50, 5.0), (None, 1, None)]
)
def test_the_least_time_is_the_slower_of_computing_and_moving(flops: int, floor: int, seconds: float) -> None:
    assert Roofline(100.0, 10.0).seconds(flops, floor) == seconds


def test_a_roofline_is_what_the_sweep_keeps() -> None:
    reached = {"flops_per_second_best": 2e9, "bytes_per_second_best": 3, "threads": 2}
    assert Roofline.of(reached) == Roofline(2e9, 3.0)
