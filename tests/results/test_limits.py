"""What no step can be faster than, and what is said of one that is."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from suite.ir.summary import Cost
from suite.machine.roofline import MARGIN, MemoryLevel, Roofline, best_seconds
from suite.results.limits import BYTES, FLOPS, exceeded
from suite.sets.rows import Row, counted
from tests.ir.programs import compiled, program
from tests.results.rows import attempt_of, row_of


def too_fast(row: Row, measured: Roofline | None) -> bool:
    """Whether a row breaks a limit."""
    return exceeded(row, measured) is not None


def test_no_core_is_that_fast() -> None:
    row = row_of(attempt_of(), 1e-3, flops=10**6)
    assert not too_fast(row, None)
    assert too_fast(row | {"flops": 10**12}, None)
    assert not too_fast(row | {"flops": None}, None)
    assert not too_fast(row | {"flops": 10**12, "target": "cuda"}, None), "a GPU's limit is another"
    bf16 = row | {"precision": "bf16", "flops": 10**9}
    assert not too_fast(bf16, Roofline({"f32": 1e6})), "float32's roof isn't bfloat16's"


TRIES = 10  # a neighbour may take the cores from one side of a comparison for as long as it lasts


def beside(whole: Callable[[], object], part: Callable[[], object]) -> tuple[float, float]:
    """The best times of the whole and of a part, in turns: neighbours and the machine's pace are the same for both."""
    pairs = [(best_seconds(whole, 1), best_seconds(part, 1)) for _ in range(50)]
    return min(a for a, _ in pairs), min(b for _, b in pairs)


@pytest.mark.parametrize(("share", "caught"), [(1.0, False), (0.3, True)])
def test_a_product_that_skips_most_of_its_work_is_over_a_measured_roof(share: float, caught: bool) -> None:
    """Against what this very machine reaches now: no figure is written down here."""
    side = 512
    rng = np.random.default_rng(0)
    a, b = (rng.random((side, side), dtype=np.float32) for _ in range(2))
    fewer = np.ascontiguousarray(b[:, : int(share * side)])
    flops = 2 * side**3  # what the step says that it does

    def is_caught() -> bool:
        seconds, taken = beside(lambda: np.matmul(a, b), lambda: np.matmul(a, fewer))
        return bool(too_fast(row_of(attempt_of(), taken, flops=flops), Roofline({"f32": flops / seconds})))

    assert any(is_caught() == caught for _ in range(TRIES))


@pytest.mark.parametrize(("share", "caught"), [(1.0, False), (0.3, True)])
def test_a_step_that_moves_too_little_is_over_a_measured_bandwidth(share: float, caught: bool) -> None:
    count = 1 << 23  # two arrays of 32 MiB
    a, b = np.ones(count, np.float32), np.ones(count, np.float32)
    part, moved = int(share * count), 2 * a.nbytes

    def is_caught() -> bool:
        seconds, taken = beside(lambda: np.copyto(b, a), lambda: np.copyto(b[:part], a[:part]))
        roof = Roofline({"f32": 1e15}, (MemoryLevel(moved / seconds, 0),))
        return bool(too_fast(row_of(attempt_of(), taken, flops=0, bytes_floor=moved), roof))

    assert any(is_caught() == caught for _ in range(TRIES))


def test_what_lives_in_a_cache_is_not_held_to_dram() -> None:
    roof = Roofline({"f32": 1e15}, (MemoryLevel(1e12, 2**20), MemoryLevel(1e9, 2**25)))
    in_cache = row_of(attempt_of(), 1e-4, flops=0, bytes_floor=2**24)
    assert not too_fast(in_cache, roof)
    assert too_fast(in_cache | {"bytes_floor": 2**28}, roof)


def on(row: Row, target: str, device: str, reported: str = "") -> Row:
    """The row as if it had run on an accelerator."""
    return row | {"target": target, "device": device, "environment_facts": json.dumps({"device": {"device": reported}})}


@pytest.mark.parametrize(("device", "reported"), [("v6e-1", ""), ("tpu", "TPU v6 lite")])
def test_an_accelerator_is_held_to_its_maker_s_figures(device: str, reported: str) -> None:
    row = on(row_of(attempt_of(), 1e-3, flops=0), "tpu", device, reported)
    assert not too_fast(row | {"flops": 918 * 10**9}, None), "at the peak"
    assert too_fast(row | {"flops": 1200 * 10**9}, Roofline({"f32": 1e30})), "the host's roof says nothing"
    kept = 2 * 128 * 2**20  # in the chip's own memory, read and written
    assert not too_fast(row | {"bytes_floor": kept + 1_640_000_000}, None)
    broken = exceeded(row | {"bytes_floor": kept + 2_000_000_000}, None)
    assert broken is not None and broken.kind == BYTES and "TPU v6e (Trillium)" in broken.whose


def test_an_unknown_accelerator_has_no_limit() -> None:
    assert not too_fast(on(row_of(attempt_of(), 1e-9, flops=10**15), "cuda", "cuda", "NVIDIA X9"), None)


def test_a_broken_limit_says_the_time_the_bound_and_whose_it_is() -> None:
    row = row_of(attempt_of(), 31e-6, flops=2 * 10**9, bytes_floor=10**8)
    broken = exceeded(row, Roofline({"f32": 2e11}, (MemoryLevel(1e10, 10**7),)))
    assert broken is not None and broken.kind == FLOPS and broken.seconds == pytest.approx(2e9 / (2e11 * MARGIN))
    assert broken.exceeded_by(row) == (
        "a step took 31.0 µs; its 2.00 GFLOP take at least 8.33 ms (240 GFLOP/s, 1.2 times what this machine reached)"
    )
    fewer = exceeded(row | {"flops": 10**7}, Roofline({"f32": 2e11}, (MemoryLevel(1e10, 10**7),)))
    assert fewer is not None and fewer.kind == BYTES
    assert "76.3 MiB beyond the caches take at least 6.67 ms" in fewer.words


def test_a_single_step_that_was_not_waited_for_shows_where_the_median_does_not() -> None:
    """JAX takes 32 steps without waiting: from then on each waits for an earlier one."""
    roof = Roofline({"f32": 1e11})  # 2 GFLOP take at least 16.7 ms
    row = row_of(attempt_of(), [6e-6, *[28e-3] * 9], flops=2 * 10**9)
    broken = exceeded(row, roof)
    assert broken is not None and broken.exceeded_by(row).startswith(
        "a step took 6.00 µs, others 28.0 ms; its 2.00 GFLOP"
    )
    assert exceeded(row_of(attempt_of(), [9e-3, *[28e-3] * 9], flops=2 * 10**9), roof) is None, "a fast moment"
    assert exceeded(row_of(attempt_of(), [9e-3] * 9, flops=2 * 10**9), roof) is not None


def test_the_reason_of_a_case_is_that_of_its_process_that_was_too_fast() -> None:
    fast = row_of(attempt_of(), 1e-6) | {"flags": ["implausible"], "reason": "a step took 1 µs; its 2 GFLOP take more"}
    other = row_of(attempt_of(block=2), 1e-3)
    assert [(row.outcome, row["reason"]) for row in counted([fast, other])] == [
        ("implausible", "a step took 1 µs; its 2 GFLOP take more")
    ] * 2


def test_a_step_is_held_to_the_program_that_it_compiled_last() -> None:
    warming, stepping = (
        replace(program(step), compiled=replace(compiled(), cost=Cost(flops=flops, bytes=0.0)))
        for step, flops in (("first", 9e9), ("second", 2e9))
    )
    row = row_of(attempt_of(), 1e-3, flops=0)
    assert exceeded(row, Roofline({"f32": 2e12}), (warming, stepping)) is None
    broken = exceeded(row, Roofline({"f32": 1e12}), (warming, stepping))
    assert broken is not None and broken.words.startswith("its own compiled program's 2.00 GFLOP take at least 1.67 ms")
    assert exceeded(row, Roofline({"f32": 1e12}), (replace(stepping, compiled=None),)) is None, "not compiled by XLA"
