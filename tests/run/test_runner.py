"""One attempt to one row: caches of its own, what isn't run again, and figures that can't be."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from suite.case import Outcome
from suite.launch.engine import ROOT
from suite.machine.roofline import MARGIN, Roofline
from suite.plan import layout
from suite.run.runner import inferred
from suite.sets.rows import Row
from tests.pipeline import make_plan, make_session
from tests.results.rows import attempt_of, row_of


def test_a_cold_case_finds_no_cache_and_a_warm_one_its_prime_s(tmp_path: Path) -> None:
    runner = make_session(tmp_path / "set", make_plan(("calm",), caches=("cold", "warm"))).runner
    cold, prime, warm = sorted(layout.block(runner.plan, 1), key=lambda a: (a.case.cache, a.purpose != "prime"))
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
    assert told["reason"] == "not run: the process in block 1 ended so: too slow"
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


def test_a_row_keeps_no_place_of_this_machine(tmp_path: Path) -> None:
    runner = make_session(tmp_path / "set", make_plan(("calm",))).runner
    (attempt,) = layout.block(runner.plan, 1)
    words = f"{ROOT}/suite/case.py, {tmp_path}/set/caches, {Path.home()}/.cache"
    runner.save(attempt, row_of(attempt, message=words, environment_facts=f'{{"path":"{tmp_path}/set"}}'))
    (row,) = runner.store.rows()
    assert row["message"] == "CHECKOUT/suite/case.py, RESULTS/set/caches, ~/.cache"
    assert row.mapping("environment_facts") == {"path": "RESULTS/set"}
    assert runner.store.plan_file.workload_paths == ("tests/scenarios",)


def test_a_process_is_called_too_fast_only_after_the_machine_was_measured_again(tmp_path: Path) -> None:
    runner = make_session(tmp_path / "set", make_plan(("calm",))).runner
    row = row_of(attempt_of(), 1e-3, flops=2 * 10**9)
    runner.roofline = Roofline({"f32": 1e12})
    readings = [Roofline({"f32": 2e12}), Roofline({"f32": 1.5e12})]
    runner.again = lambda: readings.pop(0)
    assert runner.too_fast(row) is None, "the first reading was of a slow moment"
    assert not readings[1:] and runner.roofline == Roofline({"f32": 2e12})
    broken = runner.too_fast(row | {"flops": 3 * 10**9})
    assert broken is not None and broken.rate == 1.5e12 * MARGIN and not readings
    assert runner.too_fast(row | {"flops": 1}) is None, "a plausible row needs no reading"


def test_who_ran_first_and_is_contradicted_later_gets_a_further_row_that_is_wrong(tmp_path: Path) -> None:
    session = make_session(tmp_path / "set", make_plan(("calm",)))
    runner, [attempt] = session.runner, layout.block(session.runner.plan, 1)
    asked = []

    def contradicted(comparison_id: str) -> dict[str, Any]:
        asked.append(comparison_id)
        reason = "output: relative error 1, against tf and torch, which agree"
        return {attempt.case.case_id: (Outcome.WRONG, reason, Row())}

    runner.agreement.contradicted = contradicted  # type: ignore[method-assign]
    [row] = runner.contradict([replace(attempt, retry=2)])
    assert asked == [attempt.case.comparison_id]
    assert (row["outcome"], row["provenance"], row["retry"]) == ("wrong", "inferred", 2)
    assert row["reason"].endswith("which agree")
    assert [kept["outcome"] for kept in session.store.read()[0]] == ["wrong"]
    assert runner.contradict([replace(attempt, retry=3)]) == [], "once"
    settled = runner.without_process(attempt)
    assert settled is not None and settled["outcome"] == "wrong", "later blocks needn't run it"
