"""Cases in blocks: each once, in an order that can be had again, and what must stay together does."""

from __future__ import annotations

import dataclasses
from collections import Counter
from itertools import groupby

import pytest

from suite.case import Planned, Purpose
from suite.plan import layout
from suite.plan.durations import attempt_seconds, plan_seconds
from suite.protocol import Protocol
from suite.sets.plan import Plan
from suite.stacks.names import case_name
from suite.workloads.catalog import find
from tests.pipeline import make_plan
from tests.results.rows import attempt_of

SCENES = ("calm", "slow", "drift")


def plan(**changes: object) -> Plan:
    """Three scenes on a stack and its variant, cold and warm, with a twin."""
    return make_plan(SCENES, ("fake", "fake@slow"), twin=True, caches=("cold", "warm"), **changes)


def test_a_block_has_every_case_once_and_the_baseline_s_twin() -> None:
    timed = Counter((a.case.case_id, a.replicate) for a in layout.block(plan(), 1) if a.purpose is Purpose.TIMED)
    assert set(timed.values()) == {1}
    assert {case_id for case_id, _ in timed} == {planned.case.case_id for planned in plan().cases}
    twins = [a for a in layout.block(plan(), 1) if a.replicate == 2]
    assert {a.case.stack_name for a in twins} == {"fake"}


def test_a_question_of_its_own_functions_has_a_twin_of_the_baseline_s_counterpart() -> None:
    whole = plan()
    cases = [
        dataclasses.replace(it, case=dataclasses.replace(it.case, implementation=f"of_{it.case.size}"))
        for it in whole.cases
    ]
    asked = dataclasses.replace(whole, cases=tuple(cases), baseline="fake:of_calm")
    twins = {a.case.stack_name for a in layout.block(asked, 1) if a.replicate == 2}
    assert twins == {f"fake:of_{scene}" for scene in SCENES}


def test_a_warm_case_comes_right_after_the_process_that_fills_its_caches() -> None:
    for number in (1, 2, 3):
        attempts = layout.block(plan(), number)
        for before, attempt in zip([None, *attempts], attempts, strict=False):
            if attempt.case.cache == "warm" and attempt.purpose is Purpose.TIMED:
                assert before is not None
                assert (before.purpose, before.case, before.replicate) == (
                    Purpose.PRIME,
                    attempt.case,
                    attempt.replicate,
                )


def test_the_same_block_has_the_same_order_and_others_have_others() -> None:
    assert layout.block(plan(), 2) == layout.block(plan(), 2)
    orders = {tuple(case_name(a.case) for a in layout.block(plan(), number)) for number in range(2, 8)}
    assert len(orders) > 1
    again = tuple((case_name(a.case), a.replicate) for a in layout.block(plan(), 2, retry=2))
    assert again != tuple((case_name(a.case), a.replicate) for a in layout.block(plan(), 2))
    assert [a.position for a in layout.block(plan(), 2)] == list(range(1, len(again) + 1))


def test_the_stacks_of_a_question_run_next_to_each_other() -> None:
    for number in (1, 2, 3):
        questions = [attempt.case.comparison_id for attempt in layout.block(plan(), number)]
        assert len([*groupby(questions)]) == len(set(questions)) == 6
    orders = {
        tuple(dict.fromkeys(a.case.comparison_id for a in layout.block(plan(), number))) for number in range(1, 9)
    }
    assert len(orders) > 1, "questions are shuffled, too"


@pytest.mark.parametrize(("replicates", "places"), [(2, [2, 7]), (3, [1, 5, 9]), (1, [4])])
def test_the_baseline_s_replicates_are_spread_among_the_others(replicates: int, places: list[int]) -> None:
    """Eight others: none is further than a few processes from a baseline."""
    stacks = ("fake", *(f"fake@{n}" for n in range(8)))
    block = layout.block(make_plan(("calm",), stacks, twin=True, baseline_replicates=replicates), 2)
    assert [at for at, attempt in enumerate(block) if attempt.case.stack_name == "fake"] == places
    assert len(block) == 8 + replicates


def test_a_costly_stack_can_be_spared_in_later_blocks() -> None:
    question = attempt_of(stack="torch_inductor").case
    cases = tuple(Planned(dataclasses.replace(question, stack=stack)) for stack in ("torch_inductor", "numpy"))
    few = Plan("set", cases, Protocol(blocks=3, costly_blocks=2), "numpy", twin=False, seed=0)
    assert [{a.case.stack for a in layout.block(few, n)} for n in (1, 2, 3)] == [{"torch_inductor", "numpy"}] * 2 + [
        {"numpy"}
    ]
    assert plan_seconds(few, find()) < plan_seconds(dataclasses.replace(few, protocol=Protocol(blocks=3)), find())
    assert len(layout.block(dataclasses.replace(few, baseline="torch_inductor"), 3)) == 2, (
        "the others need their baseline"
    )


def test_an_unsupported_case_is_planned_without_a_twin_or_a_prime() -> None:
    case = attempt_of(cache="warm").case
    refused = Plan("set", (Planned(case, "has no cache"),), Protocol(), case.stack_name, twin=True, seed=0)
    (attempt,) = layout.block(refused, 1)
    assert (attempt.purpose, attempt.replicate) == (Purpose.TIMED, 1)
    assert refused.reason(case) == "has no cache"
    assert plan_seconds(refused, find()) == 0


@pytest.mark.parametrize("n", [64, 10**6])
def test_no_estimate_is_longer_than_the_time_limit(n: int) -> None:
    seconds = attempt_seconds(attempt_of(dims={"n": n}), find(), Protocol(timeout_seconds=1200.0))
    assert 1 < seconds <= 1200


def test_the_estimate_counts_the_processes_that_tell_their_kernels() -> None:
    """One for each case, without the samples: three steps of a product that takes longer than the least window."""
    case = attempt_of(dims={"n": 4096}).case
    times = [
        plan_seconds(
            Plan("set", (Planned(case),), Protocol(explain=explain), case.stack_name, twin=False, seed=0), find()
        )
        for explain in (False, True)
    ]
    one = times[0] / Protocol().blocks
    assert 1 < times[1] - times[0] < one


def test_the_estimate_counts_the_turns_of_a_process() -> None:
    alone, in_rounds = (
        attempt_seconds(attempt_of(dims={"n": 64}), find(), Protocol(sampling=sampling, seconds_min=0.3))
        for sampling in ("alone", "rounds")
    )
    assert 8 * 0.25 - 0.3 < in_rounds - alone < 8 * 0.4


def test_the_estimate_counts_few_samples_of_slow_calls_and_the_bytes_that_a_call_moves() -> None:
    product = attempt_of(dims={"n": 8192})  # 11 s a call
    few, many = (
        attempt_seconds(product, find(), Protocol(samples_min=15, slow_call_seconds=slow, timeout_seconds=1e4))
        for slow in (2.0, 100.0)
    )
    assert 100 < many - few < 120
    dims = find()["decode"].spec.SIZES["full"]
    assert attempt_seconds(attempt_of(workload="decode", dims=dims), find(), Protocol()) > 50, "by its FLOPs alone 20"


def test_kernels_are_told_by_the_first_case_of_each_stack() -> None:
    cases = tuple(
        Planned(attempt_of(stack, dims={"n": n}).case) for n in (64, 65) for stack in ("numpy", "jax_jit", "tf_xla")
    )
    plan = Plan("set", cases, Protocol(kernels=True), "numpy", twin=False, seed=0)
    asked = [attempt.case for attempt in layout.outside(plan, Purpose.EXPLAIN)]
    assert asked == [planned.case for planned in cases[:3]]
    assert not layout.outside(dataclasses.replace(plan, protocol=Protocol()), Purpose.EXPLAIN)
    assert len(layout.outside(dataclasses.replace(plan, protocol=Protocol(explain=True)), Purpose.EXPLAIN)) == 6
