"""The machine's roofline: really swept on small arrays, and what the report makes of it."""

from __future__ import annotations

import time

import pytest

from suite.machine import bandwidth, facts, roofline
from suite.machine.bandwidth import Caches
from suite.machine.roofline import MemoryLevel, Roofline

KIB = 1024


def test_a_sweep_finds_positive_rates_of_these_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roofline, "SIDES", (64, 128))
    monkeypatch.setattr(roofline, "caches", lambda cores: Caches(last=256 * KIB, inner=64 * KIB))
    monkeypatch.setattr(bandwidth, "WINDOW_SECONDS", 0.01)
    cores = facts.usable_cores()
    found = roofline.sweep(cores)
    assert found["threads"] == len(cores)
    assert set(found["gemm_flops_per_second"]) == {"64", "128"}
    assert found["flops_per_second_best"] == max(found["gemm_flops_per_second"].values()) > 1e6
    for place in ("bytes_per_second", "cache_bytes_per_second"):
        assert set(found[place]) == {"read", "copy", "triad"}
        assert found[f"{place}_best"] == max(found[place].values()) > 1e6
    assert 0.0 < found["cores_had"] < 1.5
    roof = Roofline.of(found | {"cores_had": 1.0})
    assert roof is not None and [level.nearer_bytes for level in roof.levels] == [64 * KIB, 256 * KIB]


def test_the_ceiling_has_the_bandwidths_that_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roofline, "CEILING_SIDE", 64)
    monkeypatch.setattr(roofline, "CEILING_SECONDS", 0.01)
    monkeypatch.setattr(roofline, "caches", lambda cores: Caches(last=256 * KIB, inner=64 * KIB))
    monkeypatch.setattr(bandwidth, "WINDOW_SECONDS", 0.01)
    found = roofline.ceiling(facts.usable_cores(), ["memory"])
    assert found["bytes_per_second_best"] > 1e6 and "cache_bytes_per_second_best" not in found
    assert (found["cache_bytes"], found["inner_cache_bytes"]) == (256 * KIB, 64 * KIB)


def test_the_ceiling_is_one_figure_of_these_cores(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(roofline, "CEILING_SIDE", 64)
    monkeypatch.setattr(roofline, "CEILING_SECONDS", 0.01)
    found = roofline.ceiling(facts.usable_cores())
    assert (found["threads"], found["side"]) == (len(facts.usable_cores()), 64)
    assert found["flops_per_second"] > 1e6
    assert 0.0 < found["cores_had"] < 1.5


def test_the_best_of_enough_calls_and_the_first_doesn_t_count() -> None:
    calls: list[int] = []
    assert roofline.best_seconds(lambda: calls.append(1), 3) > 0
    assert len(calls) == 4
    calls.clear()
    roofline.best_call(lambda: calls.append(1), 1, at_least=1e-4)
    assert len(calls) > 5, "as many as fill the time"


@pytest.mark.parametrize(
    ("flops", "floor", "seconds"), [(1000, 10, 10.0), (100, 100, 10.0), (0, 50, 5.0), (None, 1, None)]
)
def test_the_least_time_is_the_slower_of_computing_and_moving(
    flops: int | None, floor: int, seconds: float | None
) -> None:
    assert Roofline({"f32": 100.0}, (MemoryLevel(10.0, 0),)).seconds(flops, floor, "f32") == seconds


def test_a_precision_that_was_not_measured_has_no_roof() -> None:
    roof = Roofline({"f32": 100.0}, (MemoryLevel(10.0, 0),))
    assert roof.seconds(100, 0, "f32") == 1.0
    assert roof.seconds(100, 0, "bf16") is None, "float32's isn't bfloat16's"
    assert Roofline({"f32": 100.0}).seconds(100, 0, "f32") is None, "arithmetic alone is half a roofline"


@pytest.mark.parametrize(
    ("floor", "seconds", "why"),
    [
        (20, 0.0, "stays in the cores' own caches"),
        (200, 1.8, "in the last-level cache: each of its bytes read and written"),
        (1000, 80.0, "DRAM, but for what the cache can keep"),
    ],
)
def test_arrays_in_a_cache_are_not_held_to_dram(floor: int, seconds: float, why: str) -> None:
    roof = Roofline({"f32": 1e9}, (MemoryLevel(100.0, 10), MemoryLevel(10.0, 100)))
    assert roof.moving_seconds(floor) == pytest.approx(seconds), why


def test_a_roofline_is_what_was_measured() -> None:
    swept = {
        "flops_per_second_best": 2e9,
        "bytes_per_second_best": 3,
        "cache_bytes_per_second_best": 9,
        "cache_bytes": 32,
        "inner_cache_bytes": 2,
        "threads": 2,
    }
    assert Roofline.of(swept) == Roofline({"f32": 2e9}, (MemoryLevel(9.0, 2), MemoryLevel(3.0, 32)))
    assert Roofline.of(swept | {"bf16_flops_per_second_best": 5e9}).flops_per_second == {"f32": 2e9, "bf16": 5e9}  # type: ignore[union-attr]
    slow = Roofline.of(swept | {"bf16_flops_per_second_best": 1e9})
    assert slow is not None and slow.flops_per_second["bf16"] == 2e9, "who converts computes in float32"
    older = {"flops_per_second_best": 2e9, "bytes_per_second_best": 3}
    assert Roofline.of(older) == Roofline({"f32": 2e9}, (MemoryLevel(3.0, 0),))


def test_a_call_that_waits_didn_t_have_its_core() -> None:
    # Long beside what a BLAS's threads spin after a product of an earlier test.
    seconds, cores = roofline.best_call(lambda: time.sleep(0.3), 2)
    assert seconds >= 0.3 and cores < 0.5


def test_short_calls_have_their_cores_though_the_kernel_books_time_at_ticks(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def product() -> None:
        nonlocal now
        now += 0.007

    monkeypatch.setattr(roofline, "perf_counter", lambda: now)
    monkeypatch.setattr(roofline, "process_time", lambda: now + now // 0.01 * 0.01)  # its own core's, another's
    seconds, cores = roofline.best_call(product, 5, at_least=1.0)
    assert seconds == pytest.approx(0.007) and cores == pytest.approx(2.0, rel=0.05)


def test_what_had_to_share_its_cores_is_no_roof() -> None:
    """A neighbour would make every honest step implausible."""
    alone, beside = ({"flops_per_second": rate, "cores_had": had} for rate, had in ((1e9, 0.99), (9e8, 0.4)))
    swept = {"flops_per_second_best": 5e8, "bytes_per_second_best": 3, "cores_had": 0.5}
    assert Roofline.of(swept, [beside]) is None
    assert Roofline.of(swept, [beside, alone]) == Roofline({"f32": 1e9})
    assert Roofline.of(swept | {"cores_had": 0.95}, [beside]) == Roofline({"f32": 5e8}, (MemoryLevel(3.0, 0),))


def test_without_a_sweep_the_best_ceiling_is_the_roof() -> None:
    readings = [{"flops_per_second": 1e9}, {"flops_per_second": 2e9}]
    assert Roofline.of({}, readings) == Roofline({"f32": 2e9})
    assert Roofline.of({}) is None
