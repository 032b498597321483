"""One attempt to one row: caches of its own, what isn't run again, and figures that can't be."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from suite.case import Outcome
from suite.machine.roofline import Place, Roofline, best_seconds
from suite.run.runner import implausible, inferred
from tests.pipeline import make_plan, make_session
from tests.results.rows import attempt_of, row_of


def test_a_cold_case_finds_no_cache_and_a_warm_one_its_prime_s(tmp_path: Path) -> None:
    runner = make_session(tmp_path / "set", make_plan(("calm",), caches=("cold", "warm"))).runner
    cold, prime, warm = sorted(runner.plan.block(1), key=lambda a: (a.case.cache, a.purpose != "prime"))
    for attempt, left in ((cold, False), (prime, False), (warm, True)):
        folder = runner.cache_directory(attempt)
        assert (folder / "kernel").exists() is left
        (folder / "kernel").touch()
    assert runner.cache_directory(prime) == runner.cache_directory(warm)
    assert runner.cache_directory(cold) != runner.cache_directory(warm)


def test_a_settled_case_is_told_by_the_row_it_rests_on() -> None:
    source = row_of(attempt_of(retry=2), outcome="timeout", reason="too slow", phase="first")
    told = inferred(source, source.case)
    assert (told["outcome"], told["phase"], told["provenance"]) == ("timeout", "first", "inferred")
    assert told["reason"] == "too slow (block 1, retry 2)"
    assert told["inferred_from"] == "gemm-tiny-forward-f32-cpu-numpy, block 1, retry 2"
    larger = inferred(source, attempt_of(dims={"n": 128}).case)
    assert larger["reason"] == "needs no less than gemm-tiny-forward-f32-cpu-numpy: too slow"


def test_settled_is_forgotten_where_again_finds_otherwise(tmp_path: Path) -> None:
    runner = make_session(tmp_path / "set", make_plan(("calm",))).runner
    slow = row_of(attempt_of(), outcome=str(Outcome.TIMEOUT), synced_seconds=None)
    runner.remember(slow)
    assert runner.settled[slow["case_id"]] is slow
    runner.remember(row_of(attempt_of(retry=2)))
    assert not runner.settled


def test_no_core_is_that_fast() -> None:
    row = row_of(attempt_of(), 1e-3, flops=10**6)
    assert not implausible(row, None)
    assert implausible(row | {"flops": 10**12}, None)
    assert not implausible(row | {"flops": None}, None)
    assert not implausible(row | {"flops": 10**12, "target": "cuda"}, None), "a GPU's limit is another"
    bf16 = row | {"precision": "bf16", "flops": 10**9}
    assert not implausible(bf16, Roofline({"f32": 1e6})), "float32's roof isn't bfloat16's"


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
    seconds, taken = beside(lambda: np.matmul(a, b), lambda: np.matmul(a, fewer))
    flops = 2 * side**3  # what the step says that it does
    row = row_of(attempt_of(), taken, flops=flops)
    assert implausible(row, Roofline({"f32": flops / seconds})) == caught


@pytest.mark.parametrize(("share", "caught"), [(1.0, False), (0.3, True)])
def test_a_step_that_moves_too_little_is_over_a_measured_bandwidth(share: float, caught: bool) -> None:
    count = 1 << 23  # two arrays of 32 MiB
    a, b = np.ones(count, np.float32), np.ones(count, np.float32)
    part, moved = int(share * count), 2 * a.nbytes
    seconds, taken = beside(lambda: np.copyto(b, a), lambda: np.copyto(b[:part], a[:part]))
    row = row_of(attempt_of(), taken, flops=0, bytes_floor=moved)
    assert implausible(row, Roofline({"f32": 1e15}, (Place(moved / seconds, 0),))) == caught


def test_what_lives_in_a_cache_is_not_held_to_dram() -> None:
    roof = Roofline({"f32": 1e15}, (Place(1e12, 2**20), Place(1e9, 2**25)))
    in_cache = row_of(attempt_of(), 1e-4, flops=0, bytes_floor=2**24)
    assert not implausible(in_cache, roof)
    assert implausible(in_cache | {"bytes_floor": 2**28}, roof)
