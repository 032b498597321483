"""Which published times can't be: the arithmetic, by hand."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from suite.results.documents.figures import PublishedTime, documents
from suite.results.documents.reach import (
    DOUBTFUL,
    IMPOSSIBLE,
    POSSIBLE,
    TimedWork,
    least_seconds,
    possible,
    possible_work,
)

(GPT2,) = [time for document in documents() for time in document.times if time.workload == "gpt2"]
PARAMETERS = 124_439_808
KEPT = 2 * 128 * 2**20  # bytes that may stay on the chip, read and written


def by_hand(bytes_per_parameter: int) -> float:
    """The least seconds on a v6e to move so many bytes of each parameter of GPT-2 Small."""
    return (bytes_per_parameter * PARAMETERS - KEPT) / 1.64e12


def test_the_study_s_step_of_gpt_2_is_too_short_for_a_whole_step() -> None:
    assert (GPT2.device, GPT2.seconds) == ("v6e", 0.708e-3)
    all_work = possible_work(GPT2)
    assert [work.least for work in all_work] == [*(pytest.approx(by_hand(count)) for count in (24, 32, 12, 8, 4)), 0.0]
    assert [work.verdict(GPT2.seconds) for work in all_work] == [
        IMPOSSIBLE,
        IMPOSSIBLE,
        DOUBTFUL,
        POSSIBLE,
        POSSIBLE,
        POSSIBLE,
    ]
    assert least_seconds(GPT2) == all_work[0].least and possible(GPT2) == IMPOSSIBLE


def test_a_step_that_takes_long_enough_is_possible() -> None:
    assert {work.verdict(3e-3) for work in possible_work(GPT2)} == {POSSIBLE}


@pytest.mark.parametrize(("seconds", "verdict"), [(0.8, IMPOSSIBLE), (0.9, DOUBTFUL), (1.0, POSSIBLE)])
def test_a_time_counts_as_impossible_by_a_margin(seconds: float, verdict: str) -> None:
    assert TimedWork("a step", 1, 1.0).verdict(seconds) == verdict


def test_a_chip_without_a_name_is_held_to_nothing() -> None:
    unnamed: PublishedTime = replace(GPT2, device="TPU")
    assert (least_seconds(unnamed), possible(unnamed), possible_work(unnamed)) == (None, "", ())


def test_arithmetic_binds_where_it_takes_longer_than_the_bytes() -> None:
    product = replace(GPT2, workload="gemm", dims={"n": 8192}, pass_="forward")
    assert least_seconds(product) == pytest.approx(2 * 8192**3 / 918e12)
    assert possible_work(product) == (), "only a training step has parts to leave out"


def test_a_step_is_held_to_its_own_precision() -> None:
    step = replace(GPT2, workload="gemm", dims={"n": 8192}, pass_="forward", device="a100-40g", seconds=0.02)
    assert possible(step) == IMPOSSIBLE, "2 * 8192^3 FLOPs take 56 ms at 19.5e12 a second"
    assert possible(replace(step, precision="tf32")) == POSSIBLE, "and 7 ms at 156e12"
