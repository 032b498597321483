"""One attempt to one row: caches of its own, what isn't run again, and figures that can't be."""

from __future__ import annotations

from pathlib import Path

from suite.case import Outcome
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
    told = inferred(source)
    assert (told["outcome"], told["phase"], told["provenance"]) == ("timeout", "first", "inferred")
    assert told["reason"] == "too slow (block 1, retry 2)"
    assert told["inferred_from"] == "gemm-tiny-forward-f32-cpu-numpy, block 1, retry 2"


def test_settled_is_forgotten_where_again_finds_otherwise(tmp_path: Path) -> None:
    runner = make_session(tmp_path / "set", make_plan(("calm",))).runner
    slow = row_of(attempt_of(), outcome=str(Outcome.TIMEOUT), synced_seconds=None)
    runner.remember(slow)
    assert runner.settled[slow["case_id"]] is slow
    runner.remember(row_of(attempt_of(retry=2)))
    assert not runner.settled


def test_no_core_is_that_fast() -> None:
    row = row_of(attempt_of(), 1e-3, flops=10**6)
    assert not implausible(row)
    assert implausible(row | {"flops": 10**12})
    assert not implausible(row | {"flops": None})
    assert not implausible(row | {"flops": 10**12, "target": "cuda"}), "a GPU's limit is another"
