"""From rows to ratios: pairing by blocks, what is left out, verdicts and summaries; and loading in a notebook."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import suite.results
from suite.errors import UserError
from suite.protocol import Protocol
from suite.results.analysis import analyse
from suite.sets.rows import Row
from suite.sets.schema import NAMES
from suite.stats import Estimate, ratio_of
from suite.verdicts.geometric_means import Summary
from suite.verdicts.speedups import Pairing
from suite.verdicts.verdicts import ALONE, judge
from tests.results.rows import WHEN, attempt_of, make_set, ratios, record, row_of, rows_of

FIVE = Protocol()
THREE = Protocol(blocks=3, blocks_max=3)
JAX = "jax_jit"
BASE = [0.020, 0.021, 0.019]


def only(found: list[Any]) -> Any:
    (one,) = found
    return one


def is_close(found: Estimate, expected: Estimate) -> bool:
    """The same value, blocks and interval."""
    ends = (found.low, found.high, expected.low, expected.high)
    low, high, low_, high_ = (math.log(end / found.value) for end in ends if end is not None)
    same = found.value == pytest.approx(expected.value) and found.blocks == expected.blocks
    return bool(same and (low, high) == pytest.approx((low_, high_), rel=1e-6))


# --- one ratio ---


def test_a_ratio_by_hand() -> None:
    """Above 1 the stack is faster than the baseline; pairs are of the same block."""
    found = only(ratios(rows_of({"numpy": BASE, JAX: [0.010, 0.010, 0.010]}), "numpy", THREE))
    expected = ratio_of([math.log(b / 0.010) for b in BASE], freedom=2, confidence=0.95)
    assert is_close(found.ratio, expected)
    assert found.ratio.value == pytest.approx(2 * (0.95 * 1.05) ** (1 / 3))
    assert (found.stack, found.baseline, found.verdict) == (JAX, "numpy", "faster")
    assert found.name == "gemm-tiny-forward-f32-cpu"


def test_the_inverse_baseline_gives_the_inverse_ratio() -> None:
    rows = rows_of({"numpy": BASE, JAX: [0.012, 0.010, 0.011]})
    one, other = only(ratios(rows, "numpy", THREE)), only(ratios(rows, JAX, THREE))
    assert other.ratio.value == pytest.approx(1 / one.ratio.value)
    assert other.ratio.low == pytest.approx(1 / one.ratio.high)
    assert (one.verdict, other.verdict) == ("faster", "slower")


def test_pairing_cancels_what_a_block_shares() -> None:
    """A machine that is twice as slow in one block changes nothing."""
    rows = rows_of({"numpy": [0.02, 0.04, 0.02], JAX: [0.01, 0.02, 0.01]})
    found = only(ratios(rows, "numpy", THREE))
    assert found.ratio.low == pytest.approx(2.0) and found.ratio.high == pytest.approx(2.0)


@given(st.lists(st.tuples(st.floats(1e-6, 10), st.floats(1e-6, 10)), min_size=1, max_size=6), st.randoms())
def test_the_order_of_rows_does_not_matter(times: list[tuple[float, float]], order: Any) -> None:
    rows = rows_of({"numpy": [a for a, _ in times], JAX: [b for _, b in times]})
    first = ratios(rows, "numpy", FIVE)
    order.shuffle(rows)
    assert ratios(rows, "numpy", FIVE) == first


def test_one_block_is_undecided() -> None:
    found = only(ratios(rows_of({"numpy": [0.02], JAX: [0.001]}), "numpy", FIVE))
    assert (found.verdict, found.ratio.low, found.ratio.blocks) == ("undecided", None, 1)
    assert found.ratio.value == pytest.approx(20.0)


def test_a_tie_needs_the_whole_interval_in_the_band() -> None:
    close = [0.0200, 0.0201, 0.0199]
    assert only(ratios(rows_of({"numpy": close, JAX: close}), "numpy", THREE)).verdict == "tie"
    assert only(ratios(rows_of({"numpy": BASE, JAX: BASE[::-1]}), "numpy", THREE)).verdict == "undecided"


def test_a_second_stage_keeps_the_first_one_s_freedom() -> None:
    times = list(np.exp(np.random.default_rng(0).normal(0, 0.05, 9)) * 0.02)
    found = only(ratios(rows_of({"numpy": times, JAX: [0.02] * 9}), "numpy", FIVE)).ratio
    logs = [math.log(t / 0.02) for t in times]
    assert is_close(found, ratio_of(logs, freedom=4, confidence=0.95))
    assert found.blocks == 9
    planned = only(ratios(rows_of({"numpy": times, JAX: [0.02] * 9}), "numpy", Protocol(blocks=9, blocks_max=9))).ratio
    assert is_close(planned, ratio_of(logs, freedom=8, confidence=0.95))


def test_the_median_after_the_warm_up_is_what_counts() -> None:
    slow = [9.0, 9.0, 0.01, 0.01, 0.02, 5.0]
    rows = [row_of(attempt_of("numpy"), 0.02), row_of(attempt_of(JAX), slow, synced_warmup=2)]
    assert only(ratios(rows, "numpy", THREE)).ratio.value == pytest.approx(0.02 / 0.015)
    assert only(ratios(rows, "numpy", THREE, "pipelined")).ratio.value == pytest.approx(0.02 / np.median(slow))


@pytest.mark.parametrize("clock", ["synced", "dispatch", "pipelined", "fetch", "first", "second"])
def test_every_clock_has_its_ratio(clock: str) -> None:
    found = only(ratios(rows_of({"numpy": [0.02], JAX: [0.01]}), "numpy", THREE, clock))
    assert found.ratio.value == pytest.approx(2.0)


def test_samples_of_a_row_without_any() -> None:
    row = row_of(attempt_of(), synced_seconds=None, first_seconds=None, synced_warmup=None)
    assert list(row.samples()) == list(row.samples("first")) == []
    assert row.median() is None and row.median("second") == 0.02


# --- what is left out ---


@pytest.mark.parametrize("outcome", ["oom_host", "timeout", "wrong", "error", "crashed", "unsupported"])
def test_only_ok_rows_are_compared(outcome: str) -> None:
    rows = rows_of({"numpy": BASE})
    rows += [row_of(attempt_of(JAX, block), 0.01, outcome=outcome, reason="x") for block in (1, 2, 3)]
    assert ratios(rows, "numpy", THREE) == []


def test_blocks_that_lack_one_side_are_not_paired() -> None:
    rows = rows_of({"numpy": BASE, JAX: [0.01, 0.01, 0.01]})
    rows[1] |= {"outcome": "timeout"}  # numpy in block 2
    found = only(ratios(rows, "numpy", THREE))
    assert found.ratio.blocks == 2
    assert found.ratio.value == pytest.approx(math.sqrt(2.0 * 1.9))


@pytest.mark.parametrize("block", [1, 3])
def test_what_is_wrong_once_leaves_every_ratio(block: int) -> None:
    """The gate runs in block 1 alone: the same code's other blocks were never shown to be right."""
    rows = rows_of({"numpy": BASE, JAX: [0.01, 0.01, 0.01], "tf_xla": [0.02, 0.02, 0.02]})
    guilty = next(row for row in rows if row["stack"] == JAX and row["block"] == block)
    guilty |= {"outcome": "wrong", "reason": "loss"}
    assert [found.stack for found in ratios(rows, "numpy", THREE)] == ["tf_xla"]
    assert ratios(rows, JAX, THREE) == []


def test_what_is_wrong_on_one_question_is_compared_on_others() -> None:
    rows = rows_of({"numpy": BASE, JAX: [0.01, 0.01, 0.01]})
    other = rows_of({"numpy": BASE, JAX: [0.01, 0.01, 0.01]}, pass_="train")
    rows[3] |= {"outcome": "wrong"}
    assert [found.name for found in ratios(rows + other, "numpy", THREE)] == ["gemm-tiny-train-f32-cpu"]


def test_a_wrong_try_that_was_run_again_rightly_is_forgiven() -> None:
    rows = rows_of({"numpy": BASE, JAX: [0.01, 0.01, 0.01]})
    rows[3] |= {"outcome": "wrong"}
    rows.append(row_of(attempt_of(JAX, 1, retry=2), 0.01))
    assert only(ratios(rows, "numpy", THREE)).ratio.blocks == 3


@pytest.mark.parametrize("flag", ["incomplete_block", "rejected_block"])
def test_rows_that_do_not_count_are_not_compared(flag: str) -> None:
    rows = rows_of({"numpy": BASE, JAX: [0.01, 0.01, 0.01]})
    rows += [row_of(attempt_of(stack, 1, retry=2), 77.0, flags=[flag]) for stack in ("numpy", JAX)]
    assert only(ratios(rows, "numpy", THREE)).ratio.value == pytest.approx(2 * (0.95 * 1.05) ** (1 / 3))


def test_other_purposes_are_not_compared() -> None:
    from suite.case import Purpose

    rows = rows_of({"numpy": BASE, JAX: [0.01, 0.01, 0.01]})
    rows += [row_of(attempt_of("tf_xla", b, purpose=Purpose.PRIME), 1.0) for b in (1, 2, 3)]
    assert [found.stack for found in ratios(rows, "numpy", THREE)] == [JAX]


def test_questions_are_not_mixed() -> None:
    rows = rows_of({"numpy": BASE}) + rows_of({JAX: BASE}, pass_="train") + rows_of({JAX: BASE}, cache="warm")
    assert ratios(rows, "numpy", THREE) == []


def test_rows_of_two_machines_are_refused() -> None:
    rows = rows_of({"numpy": BASE, JAX: BASE})
    rows[-1]["machine_id"] = "another"
    with pytest.raises(UserError, match="2 machines"):
        ratios(rows, "numpy", THREE)


def test_variants_are_stacks_of_their_own() -> None:
    rows = rows_of({"numpy": BASE, JAX: BASE}) + rows_of({JAX: [0.01, 0.01, 0.01]}, variant="nightly")
    found = {one.stack: one.ratio.value for one in ratios(rows, "numpy", THREE)}
    assert set(found) == {JAX, "jax_jit@nightly"}
    assert found["jax_jit@nightly"] > 1.5 > found[JAX]
    assert rows[-1].stack_name == "jax_jit@nightly"


# --- nearness in time, beyond test_pairs.py ---


def test_rows_are_paired_by_when_they_started() -> None:
    """The host is twice as slow in the second half of the block: the nearer replicate shares that."""
    times = {("numpy", 1): (0, 0.02), ("jax_jit", 1): (10, 0.01), ("tf_xla", 1): (50, 0.02), ("numpy", 2): (60, 0.04)}
    rows = [
        row_of(attempt_of(stack, block, replicate=replicate), seconds, started_at=WHEN + timedelta(seconds=after))
        for block in (1, 2, 3)
        for (stack, replicate), (after, seconds) in times.items()
    ]
    found = {one.stack: one for one in ratios(rows, "numpy", THREE)}
    assert found[JAX].ratio.value == pytest.approx(2 * 2 ** (1 / 6))
    assert found["tf_xla"].ratio.value == pytest.approx(2 / 2 ** (1 / 6))
    [floor] = Pairing.of(rows, THREE, "").twins()
    assert floor.ratio.value == pytest.approx(0.5)


def test_a_lost_replicate_leaves_the_other_one() -> None:
    rows = rows_of({"numpy": BASE, JAX: [0.01] * 3})
    rows += [row_of(attempt_of("numpy", 1, replicate=2), 0.03)]
    found = only(ratios(rows, "numpy", THREE))
    assert found.log_ratios == pytest.approx(
        {1: math.log(math.sqrt(0.02 * 0.03) / 0.01), 2: math.log(2.1), 3: math.log(1.9)}
    )


def test_three_replicates_are_held_against_each_other() -> None:
    rows = [
        row_of(attempt_of("numpy", block, replicate=replicate), seconds)
        for block in (1, 2)
        for replicate, seconds in ((1, 0.02), (2, 0.01), (3, 0.04))
    ]
    assert only(Pairing.of(rows, THREE, "").twins()).ratio.value == pytest.approx(1.0)


# --- the noise floor ---


@pytest.mark.parametrize(
    "floor",
    [
        Estimate(1.0, 0.8, 1.25, 0.9, 5),
        Estimate(0.9, 0.83, 1.21, 0.9, 5),
        Estimate(0.81, 0.8, 0.82, 1e-6, 5),  # the second process is surely slower: with labels exchanged, faster
        Estimate(1.23, 1.22, 1.24, 1e-6, 5),
    ],
)
def test_what_equal_processes_differ_by_is_never_faster_or_slower(floor: Estimate) -> None:
    """Of equal processes it is arbitrary which one is the first, so the noise floor holds in both directions."""
    inside, outside = Estimate(1.2, 1.19, 1.21, 1e-6, 5), Estimate(1.3, 1.1, 1.5, 0.01, 5)
    assert judge(inside, 1.03, {"noise": floor}) == ("undecided", "noise")
    assert judge(Estimate(1 / 1.2, 1 / 1.21, 1 / 1.19, 1e-6, 5), 1.03, {"noise": floor}) == ("undecided", "noise")
    assert judge(outside, 1.03, {"noise": floor}) == ("faster", "")
    assert judge(inside, 1.03, {"noise": Estimate(1.2, None, None, None, 1)}) == ("faster", "")  # one block: no floor
    assert judge(Estimate(1.0, 0.99, 1.01, 0.9, 5), 1.03, {"noise": floor}) == ("tie", "")


def test_a_verdict_that_the_noise_floor_forbids_says_so() -> None:
    """In each block the stack is 6 % faster than the mean of the baseline's two processes, which differ by more."""
    uneven = {1: (1.03, 0.97, 1.0), 2: (0.97, 1.03, 1.0)}
    rows = rows_of({JAX: [0.02 * math.sqrt(1.03 * 0.97) / 1.06] * 2 + [0.02 / 1.06]})
    rows += [
        row_of(attempt_of("numpy", block, replicate=replicate), 0.02 * factor)
        for replicate, factors in uneven.items()
        for block, factor in enumerate(factors, 1)
    ]
    floor, speedup = only(Pairing.of(rows, THREE, "").twins()).ratio, only(ratios(rows, "numpy", THREE))
    assert floor.low < speedup.ratio.value < floor.high and speedup.ratio.low > 1
    assert (speedup.verdict, speedup.reason) == ("undecided", "equal processes differ as much")


# --- two modes ---


def test_a_verdict_that_the_best_modes_contradict_does_not_stand() -> None:
    """The baseline is slow in most blocks. Its fast processes are as fast as the others, whatever the mean says."""
    slow = {1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 13, 14, 15}
    base = [0.02 * (1.8 if block in slow else 1.0) * (1 + 0.01 * (block % 3)) for block in range(1, 16)]
    rows = rows_of({"numpy": base, JAX: [0.02] * 15, "tf_xla": [0.004] * 15})
    found = {one.stack: one for one in ratios(rows, "numpy", Protocol(blocks=15, blocks_max=15))}
    equal, better = found[JAX], found["tf_xla"]
    assert equal.ratio.low > 1.3 and equal.verdict == "undecided"
    assert equal.reason == "two modes: faster by all processes, close by the fast ones alone"
    assert equal.best is not None and equal.best.value == pytest.approx(1.01, abs=0.02) and equal.best.blocks == 2
    assert (better.verdict, better.reason) == ("faster", "") and better.best is not None


def test_one_mode_needs_no_second_opinion() -> None:
    found = only(ratios(rows_of({"numpy": BASE, JAX: [0.01] * 3}), "numpy", THREE))
    assert (found.best, found.reason, found.verdict) == (None, "", "faster")


def test_best_modes_that_never_met_in_two_blocks_decide_nothing_if_all_processes_could_be_of_one_mode() -> None:
    """The baseline's one fast process takes 1.25 times as long as jax_jit's, as one of the same mode may."""
    rows = rows_of({"numpy": [0.0125, 0.06, 0.06, 0.06, 0.06], JAX: [0.01] * 5})
    found = only(ratios(rows, "numpy", FIVE))
    assert found.ratio.low > 1.3 and found.best == Estimate(1.25) and found.verdict == "undecided"
    assert found.reason == "two modes, and the fast processes of the two stacks share fewer than two blocks"


@pytest.mark.parametrize(("seconds", "word"), [(0.004, "faster"), (0.1, "slower")])
def test_one_fast_process_of_the_baseline_is_no_veto_where_all_modes_agree(seconds: float, word: str) -> None:
    """Every process of one stack takes over 1.3 times as long as every process of the other."""
    rows = rows_of({"numpy": [0.0112, 0.016, 0.016, 0.016, 0.016], JAX: [seconds] * 5})
    found = only(ratios(rows, "numpy", FIVE))
    assert (found.verdict, found.reason, found.in_set) == (word, "", word)
    assert found.best == Estimate(pytest.approx(0.0112 / seconds)), "the ratio of the fastest is shown all the same"


def first_runs(base: list[float], jit: list[float]) -> list[Any]:
    """Rows of two stacks whose first runs take so long; a steady step always takes as long."""
    rows = rows_of({"numpy": [0.02] * len(base), JAX: [0.02] * len(jit)})
    seconds = {("numpy", block): first for block, first in enumerate(base, 1)}
    seconds |= {(JAX, block): first for block, first in enumerate(jit, 1)}
    return [row | {"first_seconds": seconds[row["stack"], row["block"]]} for row in rows]


def test_first_runs_of_two_modes_decide_where_every_process_is_slower_than_every_process_of_the_baseline() -> None:
    """The one fast process of jax_jit never meets a fast one of numpy in a second block."""
    base, jit = [0.03, 0.05, 0.05, 0.05, 0.05], [0.40, 0.40, 0.40, 0.40, 0.28]
    found = only(ratios(first_runs(base, jit), "numpy", FIVE, "first"))
    assert found.best == Estimate(0.03 / 0.28)
    assert (found.verdict, found.reason) == ("slower", "")


def test_first_runs_of_two_modes_whose_processes_overlap_are_undecided_and_say_why() -> None:
    base, jit = [0.05, 0.10, 0.10, 0.10, 0.10], [0.30, 0.31, 0.29, 0.30, 0.09]
    found = only(ratios(first_runs(base, jit), "numpy", FIVE, "first"))
    assert found.ratio.high < 1 and found.verdict == "undecided"
    assert found.reason == "two modes, and the fast processes of the two stacks share fewer than two blocks"


# --- families, twins, summaries ---


def with_flags(rows: list[Any], stack: str, block: int) -> list[Any]:
    """Rows of which one process was disturbed to the end."""
    return [row | {"flags": ["disturbed"]} if (row["stack"], row["block"]) == (stack, block) else row for row in rows]


@pytest.mark.parametrize("stack", ["numpy", JAX])
def test_no_verdict_rests_on_a_process_that_others_disturbed(stack: str) -> None:
    rows = rows_of({"numpy": BASE, JAX: [0.010, 0.010, 0.010]})
    found = only(ratios(with_flags(rows, stack, 2), "numpy", THREE))
    reason = "other programs used the cores of 1 process of this stack or the baseline"
    assert (found.verdict, found.reason) == ("undecided", reason)
    assert found.ratio == only(ratios(rows, "numpy", THREE)).ratio, "the ratio is shown all the same"


def test_a_disturbed_replicate_of_the_baseline_is_left_to_the_calm_one() -> None:
    rows = rows_of({"numpy": BASE, JAX: [0.010, 0.010, 0.010]})
    disturbed = [
        row | {"replicate": 2, "flags": ["disturbed"], "synced_seconds": [9.0] * 5}
        for row in rows
        if row["stack"] == "numpy"
    ]
    assert only(ratios([*rows, *disturbed], "numpy", THREE)).verdict == "faster"


def means_of(rows: list[Row], protocol: Protocol = THREE) -> list[Summary]:
    """The means over the questions on which numpy has a time."""
    analysis = analyse(rows, None, protocol, "numpy", None)
    return [*analysis.means()]


def noisy(stacks: int, spread: float = 0.05, blocks: int = 3, seed: int = 0) -> dict[str, list[float]]:
    """Equal stacks beside a baseline, none of which differs but by chance."""
    random = np.random.default_rng(seed)
    names = ["numpy", *(f"stack{i}" for i in range(stacks))]
    return {name: list(0.02 * np.exp(random.normal(0, spread, blocks))) for name in names}


def test_a_family_is_judged_as_one() -> None:
    """The same ratio, alone and among others that vary as it does: a larger family asks for more."""
    widths = []
    for count in (2, 4, 8):
        times = noisy(8)
        asked = {name: times[name] for name in ["numpy", *(f"stack{i}" for i in range(count))]}
        first = next(one.ratio for one in ratios(rows_of(asked), "numpy", THREE) if one.stack == "stack0")
        widths.append(math.log(first.high / first.low))
    assert widths == sorted(widths) and widths[-1] > 1.1 * widths[0]


def test_many_ratios_lend_each_other_what_three_blocks_do_not_know() -> None:
    """1.3x at a process spread of 5 % among eight equal stacks: nearly always found, rarely by t and Holm."""
    found = by_itself = 0
    for seed in range(20):
        times = noisy(9, seed=seed)
        times["stack0"] = [t / 1.3 for t in times["stack0"]]
        words = {one.stack: one.verdict for one in ratios(rows_of(times), "numpy", THREE)}
        found += words["stack0"] == "faster"
        alone = only(ratios(rows_of({name: times[name] for name in ("numpy", "stack0")}), "numpy", THREE))
        by_itself += alone.ratio.p < 0.05 / 9
    assert found >= 15 and by_itself <= 8


def test_twins_are_a_stack_against_itself() -> None:
    rows = rows_of({"numpy": BASE, JAX: BASE})
    rows += [row_of(attempt_of("numpy", b, replicate=2), t) for b, t in enumerate(BASE, 1)]
    found = only(Pairing.of(rows, THREE, "").twins())
    assert (found.stack, found.baseline, found.ratio.value, found.verdict) == ("numpy", "numpy", 1.0, "tie")
    assert [one.stack for one in ratios(rows, "numpy", THREE)] == [JAX]


def test_a_summary_by_hand() -> None:
    """2.0 on one question and 0.5 on the other: the geometric mean is 1, whatever an arithmetic one says."""
    rows = rows_of({"numpy": [0.02, 0.02, 0.02], JAX: [0.01, 0.01, 0.01]})
    rows += rows_of({"numpy": [0.02, 0.02, 0.02], JAX: [0.04, 0.04, 0.04]}, pass_="train")
    found = only(means_of(rows))
    assert found.ratio.value == pytest.approx(1.0)
    assert (found.n_ok, found.n) == (2, 2)
    assert (found.least.ratio.value, found.greatest.ratio.value) == (pytest.approx(0.5), pytest.approx(2.0))
    assert found.least.name == "gemm-tiny-train-f32-cpu"


def test_a_failure_is_counted_and_never_imputed() -> None:
    rows = rows_of({"numpy": BASE, JAX: [0.01, 0.01, 0.01]})
    failed = rows_of({"numpy": BASE, JAX: [0.01, 0.01, 0.01]}, pass_="train")
    for row in failed[3:]:
        row |= {"outcome": "oom_host", "reason": "x"}
    alone = only(means_of(rows))
    both = only(means_of(rows + failed))
    assert both.ratio == alone.ratio
    assert (both.n_ok, both.n) == (1, 2)


def test_the_summary_s_interval_is_of_per_block_means() -> None:
    one, other = [0.010, 0.012, 0.011], [0.022, 0.019, 0.021]
    rows = rows_of({"numpy": [0.02] * 3, JAX: one}) + rows_of({"numpy": [0.02] * 3, JAX: other}, pass_="train")
    found = only(means_of(rows)).ratio
    logs = [math.log(0.02 / math.sqrt(a * b)) for a, b in zip(one, other, strict=True)]
    assert is_close(found, ratio_of(logs, freedom=2, confidence=0.95))


def test_a_summary_pairs_equal_blocks_when_some_are_missing() -> None:
    """Block 1 of one question failed. Blocks 2 and 3 must not be taken for 1 and 2 of the other."""
    base = [0.02] * 5
    shared = [0.010, 0.020, 0.011, 0.019, 0.010]  # what disturbs a block disturbs both questions
    rows = rows_of({"numpy": base, JAX: shared})
    opposite = rows_of({"numpy": base, JAX: [1e-4 / t for t in shared]}, pass_="train")
    opposite[5] |= {"outcome": "timeout", "reason": "x"}
    found = only(means_of(rows + opposite, FIVE)).ratio
    assert found.blocks == 4
    assert math.log(found.high / found.low) < 1e-6  # in each block the two cancel


def test_a_summary_lies_in_its_own_interval() -> None:
    """The block that one question lacks moves the mean; the interval must move with it."""
    rows = rows_of({"numpy": [0.02] * 3, JAX: [0.001, 0.01, 0.01]})
    other = rows_of({"numpy": [0.02] * 3, JAX: [0.01, 0.01, 0.01]}, pass_="train")
    other[3] |= {"outcome": "timeout", "reason": "x"}
    found = only(means_of(rows + other)).ratio
    assert found.low <= found.value * (1 + 1e-12) and found.value <= found.high * (1 + 1e-12)


def test_failing_the_worst_question_raises_no_rank() -> None:
    """`tf_xla` is as fast as the other where both answer, and fails where both are slow."""
    good = {"numpy": [0.02] * 3, JAX: [0.0099] * 3, "tf_xla": [0.01] * 3}
    bad = {"numpy": [0.02] * 3, JAX: [0.08] * 3, "tf_xla": [0.08] * 3}
    rows = rows_of(good) + [
        row | {"outcome": "timeout", "reason": "x"} if row["stack"] == "tf_xla" else row
        for row in rows_of(bad, pass_="train")
    ]
    lines = means_of(rows)
    assert [line.stack for line in lines] == [JAX, "tf_xla"]
    first, last = lines
    assert last.ratio.value > first.ratio.value, "over its own questions it looks better"
    assert first.is_ranked and not last.is_ranked, "it leaves the ranking, and takes no question from the other"
    assert first.ratio.value == pytest.approx(math.sqrt(0.02 / 0.0099 * 0.25))
    assert {line.n for line in lines} == {2} and (first.n_ok, last.n_ok) == (2, 1)
    assert list(last.lacks) == [rows[-1]["comparison_id"]]


def test_where_every_stack_lacks_a_question_nothing_is_ranked() -> None:
    rows = rows_of({"numpy": [0.02] * 3, "tf_xla": [0.001] * 3}) + rows_of({"numpy": BASE, JAX: BASE}, pass_="train")
    lines = means_of(rows)
    assert [(line.stack, line.is_ranked, line.n_ok) for line in lines] == [("tf_xla", False, 1), (JAX, False, 1)]


# --- in a notebook ---


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rows = rows_of({"numpy": BASE, JAX: [0.01, 0.01, 0.01]})
    store = make_set(tmp_path / "a-set", rows, [record(b, 1) for b in (1, 2, 3)])
    store.commit()
    return store.folder


@pytest.mark.parametrize("what", ["", "results.parquet"])
def test_load(folder: Path, what: str) -> None:
    results = suite.results.load(folder / what)
    assert list(results.frame.columns) == list(NAMES)
    assert len(results.frame) == len(results.accepted) == 6
    found = results.ratios("numpy")
    assert list(found["stack"]) == [JAX]
    assert found["value"].item() == pytest.approx(2 * (0.95 * 1.05) ** (1 / 3))
    assert found["verdict"].item() == "faster"
    assert results.summary("numpy").is_empty(), "there is no mean of a single question"


def test_load_knows_the_run_s_baseline_and_protocol(folder: Path) -> None:
    results = suite.results.load(str(folder))
    assert results.baseline == "numpy"
    assert results.protocol == THREE
    assert [block["block"] for block in results.blocks] == [1, 2, 3]


def test_load_of_an_unfinished_set_takes_what_is_there(folder: Path) -> None:
    (folder / "manifest.json").unlink()
    (folder / "results.parquet").unlink()
    assert len(suite.results.load(folder).frame) == 6


def test_load_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"no result set at .*stackwars run"):
        suite.results.load(tmp_path / "nowhere")
    with pytest.raises(UserError, match="no result set"):
        suite.results.load(tmp_path)


def test_a_bare_file_has_a_baseline_that_is_in_it(tmp_path: Path) -> None:
    rows = rows_of({JAX: BASE}, variant="nightly") + rows_of({JAX: BASE})
    store = make_set(tmp_path / "a-set", [], [])
    for i, row in enumerate(rows):
        store.write_attempt(f"{i}", row)
    for b in (1, 2, 3):
        store.write_block(b, 1, record(b, 1))
    store.commit()
    results = suite.results.load(store.folder / "results.parquet")
    assert len(results.ratios()) == 1


def test_pandas_alone_reads_the_file(folder: Path) -> None:
    frame = pd.read_parquet(folder / "results.parquet")
    steady = frame[frame["outcome"] == "ok"].groupby("stack")["synced_seconds"]
    medians = steady.apply(lambda samples: np.median(np.concatenate([*samples])))
    assert dict(medians) == pytest.approx({JAX: 0.01, "numpy": 0.02})


def test_the_constants_of_a_loaded_protocol_are_refused_if_unknown(folder: Path) -> None:
    plan = json.loads((folder / "plan.json").read_text())
    (folder / "plan.json").write_text(json.dumps(plan | {"protocol": plan["protocol"] | {"no_such": 1}}))
    with pytest.raises(UserError, match="no_such"):
        suite.results.load(folder)


# --- a question by itself, and among all of the set ---


def many_questions(*numbers: int) -> Pairing:
    """Ten equal stacks on each of these questions."""
    rows = [row for number in numbers for row in rows_of(noisy(9, blocks=5, seed=number), dims={"n": 64 + number})]
    return Pairing.of(rows, Protocol(blocks=5, blocks_max=5), "numpy")


def test_more_questions_widen_no_interval_but_that_of_the_whole_set() -> None:
    def width(*pairings: Pairing) -> float:
        found = [one.ratio for pairing in pairings for one in pairing.over("numpy").values()]
        return float(np.mean([math.log(ratio.high / ratio.low) for ratio in found]))

    few, many = [many_questions(number, number + 1) for number in range(0, 12, 2)], many_questions(*range(12))
    assert width(many) < 1.05 * width(*few)
    assert width(*(replace(each, one_family=True) for each in few)) > 1.05 * width(*few)
    assert width(replace(many, one_family=True)) > 1.25 * width(many)


def test_a_verdict_that_does_not_hold_among_all_of_the_set_says_so() -> None:
    pairing = many_questions(*range(12))
    key = next(iter(pairing.names))
    notes = set()
    for factor in np.linspace(1.05, 1.3, 26):
        faster = {
            block: [replace(timing, seconds=timing.seconds / factor) for timing in processes]
            for block, processes in pairing.timings[key, "stack0"].items()
        }
        changed = replace(pairing, timings={**pairing.timings, (key, "stack0"): faster})
        in_set = changed.over("numpy")[key, "stack0"]
        notes.add((in_set.verdict, in_set.in_set, in_set.note))
    assert {("faster", "faster", ""), ("faster", "undecided", ALONE)} <= notes
    assert all(verdict == "faster" or not note for verdict, _, note in notes)
