"""Two sets held against each other: what was changed is found, and what wasn't isn't."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from statistics import fmean
from typing import Any

import numpy as np
import pytest

from suite.protocol import Protocol
from suite.results.between_sets import SetPair, Times, compare_sets
from suite.sets.rows import Row
from tests.results.rows import attempt_of, row_of

STACKS = ("numpy", "jax_jit", "torch_eager", "tf_graph")


def times(name: str, rows: list[Row], flops: float = 1e11) -> Times:
    """A set of three blocks."""
    return Times.of(name, rows, Protocol(blocks=3, blocks_max=3), [{"flops_per_second": flops}])


def drawn(
    seed: int, slower: Mapping[str, float] | None = None, spread: float = 0.02, blocks: int = 3, **case: Any
) -> list[Row]:
    """Processes of four stacks on five questions, numpy twice a block."""
    random, rows = np.random.default_rng(seed), []
    for number in range(5):
        asked = {"dims": {"n": 64 + number}} | case
        for stack in STACKS:
            for block in range(1, blocks + 1):
                for replicate in (1, 2) if stack == "numpy" else (1,):
                    seconds = 0.01 * (slower or {}).get(stack, 1.0) * float(np.exp(random.normal(0, spread)))
                    rows.append(row_of(attempt_of(stack, block, replicate=replicate, **asked), seconds))
    return rows


def verdicts(found: SetPair) -> dict[str, set[str | None]]:
    """By stack."""
    return {stack: {each.verdict for each in found.changes if each.stack == stack} for stack in STACKS}


def test_equal_sets_are_seldom_called_changed() -> None:
    called = [
        any(
            each.verdict in ("faster", "slower")
            for each in compare_sets(times("a", drawn(seed)), times("b", drawn(1000 + seed))).changes
        )
        for seed in range(40)
    ]
    assert sum(called) <= 5, "of 40 pairs of sets at most 5 %, give or take"


def test_a_stack_that_was_slowed_is_found_and_no_other() -> None:
    found = compare_sets(times("a", drawn(1)), times("b", drawn(2, {"jax_jit": 1.2})))
    words = verdicts(found)
    assert words.pop("jax_jit") == {"slower"}
    assert all(not each & {"faster", "slower"} for each in words.values())
    assert {each.stack for each in found.regressions(1.05)} == {"jax_jit"}
    assert found.regressions(1.5) == ()
    turned = compare_sets(times("b", drawn(2, {"jax_jit": 1.2})), times("a", drawn(1)))
    assert verdicts(turned)["jax_jit"] == {"faster"} and turned.regressions(1.05) == ()
    for one, other in zip(found.changes, turned.changes, strict=True):
        assert one.ratio and other.ratio and one.ratio.value == pytest.approx(1 / other.ratio.value)


def test_no_change_is_called_that_equal_processes_show_too() -> None:
    noisy = drawn(2, {"jax_jit": 1.2})
    for row in noisy:
        if row["replicate"] == 2:
            uneven = (0.6, 1.0, 1.7)[row["block"] - 1]
            row["synced_seconds"] = [seconds * uneven for seconds in row["synced_seconds"]]
    found = compare_sets(times("a", drawn(1)), times("b", noisy))
    (one, *_) = [each for each in found.changes if each.stack == "jax_jit"]
    assert (one.verdict, one.reason) == ("undecided", "equal processes of b differ as much")


def test_no_change_is_called_that_the_machine_has_made() -> None:
    found = compare_sets(times("a", drawn(1), 1.3e11), times("b", drawn(2, {"jax_jit": 1.2})))
    assert found.drift == pytest.approx(1.3) and verdicts(found)["jax_jit"] == {"undecided"}
    reasons = {each.reason for each in found.changes if each.stack == "jax_jit"}
    assert reasons == {"the machine's own speed differs as much"}


def test_the_gravest_outcome_of_a_case_is_told_whichever_block_it_was_in() -> None:
    """Block 1 timed out, block 2 gave wrong results: the case is wrong."""
    ends = {1: "timeout", 2: "wrong"}
    mixed = [
        row | {"outcome": ends.get(row["block"], "ok"), "synced_seconds": None} if row["stack"] == "tf_graph" else row
        for row in drawn(2)
    ]
    changes = compare_sets(times("a", drawn(1)), times("b", mixed)).changes
    assert {change.outcomes for change in changes if change.stack == "tf_graph"} == {("ok", "wrong")}


def test_sets_that_were_sampled_in_two_ways_have_no_ratio() -> None:
    before, after = ([row | {"sampling": word} for row in drawn(n)] for n, word in ((1, "alone"), (2, "rounds")))
    found = compare_sets(times("a", before), times("b", after))
    assert found.unlike == ("way of sampling",) and found.shift is None
    assert found.changes and {(each.ratio, each.verdict) for each in found.changes} == {(None, None)}


@pytest.mark.parametrize(
    ("change", "said"),
    [({"machine_id": "another"}, "machine-id"), ({"precision": "bf16"}, None), ({"threads": 4}, None)],
)
def test_unlike_sets_are_told_and_nothing_is_called_faster(change: dict[str, Any], said: str | None) -> None:
    others = [row | change for row in drawn(2, {"jax_jit": 1.2})] if said else drawn(2, **change)
    found = compare_sets(times("a", drawn(1)), times("b", others))
    if said is None:  # another question altogether
        assert found.changes == () and len(found.alone) == 2 * 5 * len(STACKS)
        return
    assert found.unlike == (said,) and found.regressions(1.05) == ()
    assert {each.verdict for each in found.changes} == {None} and all(each.ratio for each in found.changes)


def test_what_ends_otherwise_is_a_regression() -> None:
    broken = [
        row | {"outcome": "wrong", "synced_seconds": None} if row["stack"] == "tf_graph" else row for row in drawn(2)
    ]
    found = compare_sets(times("a", drawn(1)), times("b", broken))
    assert {each.stack for each in found.regressions(1.05)} == {"tf_graph"}
    assert {each.ratio for each in found.changes if each.stack == "tf_graph"} == {None}
    assert compare_sets(times("b", broken), times("a", drawn(1))).regressions(1.05) == ()


def test_one_block_has_no_interval_and_no_verdict() -> None:
    alone = [row for row in drawn(1, blocks=1) if row["replicate"] == 1]
    found = compare_sets(times("a", alone), times("b", drawn(2, {"jax_jit": 2.0})))
    assert {each.verdict for each in found.changes} == {"undecided"}
    assert all(each.ratio and each.ratio.low is None for each in found.changes)


def test_sets_of_other_cases_have_what_they_share() -> None:
    found = compare_sets(times("a", drawn(1)), times("b", [row for row in drawn(2) if row["stack"] != "numpy"]))
    assert {each.stack for each in found.changes} == set(STACKS) - {"numpy"}
    assert len(found.alone) == 5 and all(case.endswith("only in a") for case in found.alone)


def test_versions_that_differ_are_told() -> None:
    before, after = (
        [row | {"versions": f'{{"jax": "{jax}", "python": "3.11"}}'} for row in drawn(seed)]
        for seed, jax in ((1, "1.0"), (2, "1.1"))
    )
    found = compare_sets(times("a", before), times("b", after))
    assert [each.text for each in found.differences] == ["jax 1.0 → 1.1"]
    assert compare_sets(times("a", drawn(1)), times("b", drawn(2))).differences == ()


def test_stages_of_blocks_keep_their_freedom() -> None:
    """Five blocks of which three sized the others say no more of their spread than three."""
    staged = dataclasses.replace(Protocol(), blocks=3, blocks_max=5)
    wide, narrow = (
        compare_sets(*(Times.of(name, drawn(seed, blocks=5), each, []) for name, seed in (("a", 1), ("b", 2))))
        for each in (staged, Protocol(blocks=5, blocks_max=5))
    )
    widths = [
        fmean(each.ratio.high / each.ratio.low for each in found.changes if each.ratio and each.ratio.high)
        for found in (wide, narrow)
    ]
    assert widths[0] > widths[1]
