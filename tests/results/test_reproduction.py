"""Does a set say here what it said there? Claim by claim, then of the whole set."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import numpy as np

from suite.protocol import Protocol
from suite.results import Results
from suite.results.reproduction import ClaimResult, reproduction
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, row_of

MACHINE = {"cpu_model": "A", "cpu_family_model_stepping": "1/2/3", "cpu_flags": ["avx2"], "caches": {}}


def told(seed: int, seconds: dict[str, float], machine: dict[str, Any] | None = None, **outcomes: str) -> Results:
    """A set of five blocks; stacks by their seconds, processes 1 % apart."""
    random, rows = np.random.default_rng(seed), []
    for stack, pace in seconds.items():
        for block in range(1, 6):
            row = row_of(attempt_of(stack, block), pace * float(np.exp(random.normal(0, 0.01))))
            rows.append(row | {"outcome": outcomes.get(stack, "ok")})
    plan = plan_file(protocol=Protocol(blocks=5, blocks_max=5))
    return Results(Path("a-set"), plan, rows, [], MACHINE | (machine or {}), {}, [])


THERE = {"numpy": 0.02, "jax_jit": 0.01, "torch_eager": 0.021}


def verdicts(there: Results, here: Results) -> tuple[dict[str, ClaimResult], ClaimResult]:
    """By stack, and of the set."""
    found = reproduction(there, here)
    return {claim.stack: claim.result for claim in found.claims}, found.result


def test_the_same_ratios_on_a_machine_half_as_fast_are_reproduced() -> None:
    slower = {stack: 2 * seconds for stack, seconds in THERE.items()}
    of, whole = verdicts(told(1, THERE), told(2, slower))
    assert (set(of.values()), whole) == ({ClaimResult.REPRODUCED}, ClaimResult.REPRODUCED) and set(of) == set(THERE) - {
        "numpy"
    }


def test_another_ratio_is_shifted_by_so_much() -> None:
    found = reproduction(told(1, THERE), told(2, THERE | {"jax_jit": 0.015}))
    (claim,) = [each for each in found.claims if each.stack == "jax_jit"]
    assert (claim.result, found.result) == (ClaimResult.SHIFTED, ClaimResult.SHIFTED)
    assert claim.words == "by 1.5×, down" or claim.words.startswith("by 1.4") or claim.words.startswith("by 1.5")


def test_what_was_faster_and_is_slower_is_contradicted() -> None:
    _, whole = verdicts(told(1, THERE), told(2, THERE | {"jax_jit": 0.04}))
    assert whole == ClaimResult.CONTRADICTED


def test_a_question_of_its_own_functions_is_held_over_its_own_baseline() -> None:
    """Of two files in one run: the second one's ratio turns round."""
    there, here = two_files(1, 0.02), two_files(2, 0.002)
    assert verdicts(there, there) == ({"jax_jit:a": "reproduced", "jax_jit:b": "reproduced"}, ClaimResult.REPRODUCED)
    assert verdicts(there, here) == ({"jax_jit:a": "reproduced", "jax_jit:b": "contradicted"}, ClaimResult.CONTRADICTED)
    assert reproduction(there, here).baseline == "numpy"


def two_files(seed: int, jax_b: float) -> Results:
    random, rows = np.random.default_rng(seed), []
    for function, dims, paces in (("a", 64, (0.02, 0.01)), ("b", 65, (0.01, jax_b))):
        for stack, pace in zip(("numpy", "jax_jit"), paces, strict=True):
            for block in range(1, 6):
                attempt = attempt_of(stack, block, implementation=function, dims={"n": dims})
                rows.append(row_of(attempt, pace * float(np.exp(random.normal(0, 0.01)))))
    plan = plan_file(protocol=Protocol(blocks=5, blocks_max=5), baseline="numpy:a")
    return Results(Path("a-set"), plan, rows, [], MACHINE, {}, [])


def test_on_another_class_of_machine_only_who_is_faster_is_judged() -> None:
    other = {"cpu_model": "B"}
    of, whole = verdicts(told(1, THERE), told(2, THERE | {"jax_jit": 0.015, "torch_eager": 0.03}, other))
    assert (of["jax_jit"], whole) == (ClaimResult.REPRODUCED, ClaimResult.NOT_COMPARABLE)
    assert verdicts(told(1, THERE), told(2, THERE | {"jax_jit": 0.04}, other))[1] == ClaimResult.CONTRADICTED


def test_another_outcome_is_a_shift_and_the_same_one_is_reproduced() -> None:
    of, _ = verdicts(told(1, THERE, jax_jit="oom_host"), told(2, THERE, jax_jit="oom_host"))
    assert of["jax_jit"] == ClaimResult.REPRODUCED
    of, whole = verdicts(told(1, THERE), told(2, THERE, jax_jit="wrong"))
    assert (of["jax_jit"], whole) == (ClaimResult.SHIFTED, ClaimResult.SHIFTED)


def test_what_was_not_run_here_is_said() -> None:
    found = reproduction(told(1, THERE), told(2, {"numpy": 0.02, "torch_eager": 0.021}))
    (claim,) = [each for each in found.claims if each.stack == "jax_jit"]
    assert claim.outcomes == ("ok", "not run") and claim.result == ClaimResult.SHIFTED


def test_one_block_proves_nothing() -> None:
    alone = told(1, THERE)
    alone = dataclasses.replace(alone, rows=[row for row in alone.rows if row["block"] == 1])
    assert verdicts(alone, told(2, THERE))[1] == ClaimResult.UNDECIDED
