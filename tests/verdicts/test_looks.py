"""The rule of a run until decided: levels, looks, blocks that count, and means over questions."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.protocol import Protocol
from suite.sets.rows import counted
from suite.stats import Mean, reach
from suite.verdicts.geometric_means import mean_of_questions
from suite.verdicts.looks import blocks_to_go, standings
from suite.verdicts.moderation import moderate
from suite.verdicts.speedups import Pairing
from tests.results.rows import attempt_of, row_of, rows_of

FIXED = Protocol(blocks=3, blocks_max=3)
LOOKS = replace(FIXED, until="decided")
STACKS = ("jax_jit", "tf_xla", "torch_inductor")


def times(blocks: int, deviation: float = 0.03) -> list[float]:
    draw = np.random.default_rng(int(1000 * deviation) + blocks)
    return (0.01 * np.exp(deviation * draw.standard_normal(blocks))).tolist()


def pairing(protocol: Protocol, **seconds: list[float]) -> Pairing:
    return Pairing.of(counted(rows_of(seconds)), protocol, "numpy")


def test_a_look_has_its_share_of_the_error() -> None:
    assert FIXED.at_a_look(0.95) == 0.95
    assert LOOKS.at_a_look(0.95) == pytest.approx(1 - 0.05 * LOOKS.look_share)
    seconds = {"numpy": times(6, 0.04), "jax_jit": times(6, 0.05)}
    (one,), (other,) = (
        pairing(protocol, **seconds).over("numpy").values()
        for protocol in (LOOKS, replace(FIXED, blocks=6, blocks_max=6, confidence=LOOKS.at_a_look(0.95)))
    )
    assert one.ratio == other.ratio, "the degrees of freedom are those of all blocks"


def test_a_ratio_is_judged_by_the_look_after_its_last_block() -> None:
    whole = {"numpy": times(8, 0.04), "jax_jit": times(8, 0.05), "tf_xla": times(3, 0.06)}
    then = pairing(LOOKS, **{stack: of[:3] for stack, of in whole.items()}).over("numpy")
    now = pairing(LOOKS, **whole).over("numpy")
    ours = {side[1]: speedup for side, speedup in then.items()}, {side[1]: speedup for side, speedup in now.items()}
    assert ours[0]["tf_xla"].ratio == ours[1]["tf_xla"].ratio
    assert ours[0]["jax_jit"].ratio != ours[1]["jax_jit"].ratio


def test_a_disturbed_block_is_left_out_once_enough_others_are_there() -> None:
    def found(blocks: int) -> tuple[str, int, int]:
        rows = rows_of({"numpy": [0.01] * blocks, "jax_jit": [0.005, 0.0051, *[0.0049] * (blocks - 2)]})
        rows = [row | {"flags": ["disturbed"] * (row["block"] == 2 and row["stack"] == "jax_jit")} for row in rows]
        (speedup,) = Pairing.of(counted(rows), LOOKS, "numpy").over("numpy").values()
        return speedup.verdict, speedup.ratio.blocks, speedup.disturbed

    assert found(3) == ("undecided", 3, 1)
    assert found(4) == ("faster", 3, 0)


def test_fewer_blocks_than_a_first_look_takes_give_no_verdict() -> None:
    seconds = {"numpy": [0.01] * 5, "jax_jit": [0.001, 0.00101]}
    (speedup,) = pairing(LOOKS, **seconds).over("numpy").values()
    assert speedup.verdict == "undecided" and speedup.reason.startswith("2 of the 3 blocks")


def test_who_goes_on() -> None:
    seconds = {
        "numpy": times(4),
        "jax_jit": [t / 3 for t in times(4, 0.02)],
        "tf_xla": [4 * t for t in times(4, 0.021)],
    }
    (sure,) = standings(pairing(LOOKS, **seconds))
    assert sure.order == ["jax_jit", "numpy", "tf_xla"] and not sure.unsure and sure.go_on == frozenset()
    (unsure,) = standings(pairing(LOOKS, **seconds, torch_inductor=times(4, 0.05)))
    assert [speedup.stack for speedup in unsure.unsure] == ["torch_inductor"]
    assert unsure.go_on == {"numpy", "jax_jit", "torch_inductor"}, "baseline, leader, and what is undecided"


def test_where_the_baseline_has_no_time_the_fastest_stands_in() -> None:
    (found,) = standings(pairing(LOOKS, jax_jit=times(3), tf_xla=[2 * t for t in times(3, 0.02)]))
    assert found.baseline == "jax_jit" and [speedup.stack for speedup in found.speedups] == ["tf_xla"]


def test_a_question_of_its_own_functions_is_judged_over_the_baseline_s_counterpart() -> None:
    rows = rows_of({"numpy": times(3), "jax_jit": [t / 2 for t in times(3, 0.02)]}, implementation="a")
    rows += rows_of({"numpy": times(3), "jax_jit": [2 * t for t in times(3, 0.02)]}, implementation="b", dims={"n": 65})
    both = Pairing.of(counted(rows), LOOKS, "numpy:a")
    assert [one.baseline for one in standings(both)] == ["numpy:a", "numpy:b"]
    assert [speedup.verdict for one in standings(both) for speedup in one.speedups] == ["faster", "slower"]
    for one in standings(both):  # both were planned, so that no other choice shares the error
        assert both.level(one.comparison_id, one.baseline) == LOOKS.confidence
        assert both.level(one.comparison_id, one.speedups[0].stack) > LOOKS.confidence


def test_where_the_planned_function_has_no_time_no_other_function_of_its_stack_is_planned() -> None:
    rows = rows_of({"numpy": times(3)}, implementation="a")
    rows += rows_of(
        {"numpy": [3 * t for t in times(3)], "jax_jit": [2 * t for t in times(3, 0.02)]}, implementation="b"
    )
    failed = [row | {"outcome": "error", "synced_seconds": []} if row.stack_name == "numpy:a" else row for row in rows]
    (found,) = standings(Pairing.of(counted(failed), LOOKS, "numpy:a"))
    assert found.baseline == "jax_jit:b"


def test_only_planned_ratios_ask_for_more_blocks() -> None:
    """The first question has the second one's baseline, too, with which it isn't planned."""
    protocol = replace(FIXED, blocks_max=999)
    first = rows_of({"numpy": times(3, 0.05)}, implementation="a")
    first += rows_of({"numpy": times(3, 0.1), "jax_jit": [1e-4 / t for t in times(3, 0.1)]}, implementation="b")
    second = rows_of({"numpy": times(3), "jax_jit": times(3)}, implementation="b", dims={"n": 65})
    needed = [Pairing.of(counted(rows), protocol, "numpy:a").blocks_needed() for rows in (first, [*first, *second])]
    over_b = Pairing.of(counted(first), protocol, "numpy:b").blocks_needed()
    assert needed[0] == needed[1] < over_b


def test_a_stack_alone_is_decided() -> None:
    (found,) = standings(pairing(LOOKS, numpy=times(3)))
    assert (found.speedups, found.unsure, found.go_on) == ([], [], frozenset())


@given(st.integers(3, 19), st.floats(1.0, 1.3), st.floats(0.02, 0.3))
def test_so_many_more_blocks_would_make_the_interval_narrow_enough(blocks: int, ratio: float, deviation: float) -> None:
    draw = np.random.default_rng(blocks)
    logs = deviation * draw.standard_normal(blocks)
    seconds = {"numpy": (0.01 * np.exp(logs - logs.mean())).tolist(), "jax_jit": [0.01 / ratio] * blocks}
    (speedup,) = pairing(LOOKS, **seconds).over("numpy").values()
    if speedup.verdict != "undecided" or speedup.reason:
        return
    found = blocks_to_go(speedup)
    assert found is not None
    width, more = found
    half = math.log(reach(speedup.ratio) or 1) * math.sqrt(blocks / (blocks + more))
    assert half == pytest.approx(math.log(width)) and more > -1e-9
    assert half <= abs(math.log(ratio)) + 1e-9 or math.log(1.1) - half >= abs(math.log(ratio)) - 1e-9


def test_a_mean_over_questions_takes_the_blocks_of_each() -> None:
    rows = [
        row_of(attempt_of(stack, block, dims={"n": n}), 0.01 * math.exp(0.05 * draw))
        for n, blocks in ((64, 3), (128, 12))
        for stack in ("numpy", "jax_jit")
        for block, draw in enumerate(np.random.default_rng(n + len(stack)).standard_normal(blocks), 1)
    ]
    speedups = [*Pairing.of(counted(rows), LOOKS, "numpy").over("numpy").values()]
    mean = mean_of_questions(speedups, LOOKS)
    few, many = (Mean.of(speedup.log_ratios.values(), len(speedup.log_ratios) - 1) for speedup in speedups)
    assert mean.value == pytest.approx((few.value + many.value) / 2)
    assert mean.error == pytest.approx(math.hypot(few.error, many.error) / 2)
    assert 2 <= mean.freedom <= 13 and mean.blocks == 3
    assert moderate({"one": mean, "other": mean})["one"].error > 0
