"""Who leads: a stack that no ratio, over whichever baseline, shows another to be faster than."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from suite.protocol import Protocol
from suite.verdicts.leads import behind, leaders
from suite.verdicts.speedups import Pairing, shares
from tests.results.rows import rows_of

STACKS = ("numpy", "jax_jit", "tf_xla", "torch_eager")


def pairing(times: dict[str, list[float]], baseline: str = "numpy") -> Pairing:
    blocks = max(map(len, times.values()))
    return Pairing.of(rows_of(times), Protocol(blocks=blocks, blocks_max=blocks), baseline)


def leading(times: dict[str, list[float]], baseline: str = "numpy") -> set[str]:
    (pairs,) = behind(pairing(times, baseline)).values()
    return {*leaders([*times], pairs)}


def test_stacks_that_can_not_be_told_apart_share_the_lead() -> None:
    near = {
        "jax_jit": [0.0100, 0.0101, 0.0102],
        "tf_xla": [0.0101, 0.0102, 0.0100],
        "torch_eager": [0.0102, 0.01, 0.0101],
    }
    assert leading({"numpy": [0.02, 0.0201, 0.0199]} | near) == {*near}


def test_one_that_all_others_are_shown_to_be_slower_than_leads_alone() -> None:
    assert leading({"numpy": [0.02, 0.0201, 0.0199], "jax_jit": [0.01, 0.0101, 0.0099], "tf_xla": [0.03] * 3}) == {
        "jax_jit"
    }


def test_without_a_second_block_nobody_is_behind() -> None:
    assert leading({"numpy": [0.02], "jax_jit": [0.01]}) == {"numpy", "jax_jit"}


@given(st.integers(0, 10_000))
def test_no_ratio_over_any_baseline_contradicts_a_lead(seed: int) -> None:
    random = np.random.default_rng(seed)
    times = {stack: list(0.01 * random.uniform(1, 1.3) * np.exp(random.normal(0, 0.03, 4))) for stack in STACKS}
    made = pairing({stack: [*map(float, of)] for stack, of in times.items()})
    (pairs,) = behind(made).values()
    found = leaders(STACKS, pairs)
    assert found
    for baseline in STACKS:
        for (_, stack), speedup in made.over(baseline).items():
            assert not (speedup.verdict == "slower" and stack in found)
            assert not (speedup.verdict == "faster" and baseline in found)


def test_a_baseline_that_was_chosen_by_the_times_is_judged_as_strictly_as_all_that_could_have_been() -> None:
    times = {
        stack: [0.01 * (1 + 0.02 * ((place + block) % 3)) for block in range(4)] for place, stack in enumerate(STACKS)
    }
    planned, chosen = pairing(times, "jax_jit").over("jax_jit"), pairing(times, "numpy").over("jax_jit")
    for side, speedup in planned.items():
        ours, theirs = speedup.ratio, chosen[side].ratio
        assert ours.value == theirs.value
        assert np.log(theirs.high / theirs.low) > 1.1 * np.log(ours.high / ours.low)
    assert [shares(stacks) for stacks in (1, 2, 4, 10)] == [1, 1, 2, 5]
    assert [shares(stacks, has_floor=False) for stacks in (1, 2, 4)] == [1, 2, 4], "nothing else holds chance back"


def test_two_stacks_that_never_took_turns_differ_where_their_intervals_over_the_baseline_do() -> None:
    times = {
        "numpy": [0.02, 0.0201, 0.0199, 0.02],
        "jax_jit": [0.01, 0.0101, 0.0099, 0.01],
        "tf_xla": [0.03, 0.0301, 0.0299, 0.03],
    }
    rows = [
        row for row in rows_of(times) if row["stack"] == "numpy" or (row["block"] <= 2) == (row["stack"] == "jax_jit")
    ]
    made = Pairing.of(rows, Protocol(blocks=4, blocks_max=4), "numpy")
    assert not made.over("jax_jit").keys() & {(key, "tf_xla") for key, _ in made.timings}
    (pairs,) = behind(made).values()
    assert ("tf_xla", "jax_jit") in pairs and ("jax_jit", "tf_xla") not in pairs
