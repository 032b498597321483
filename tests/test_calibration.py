"""The verdicts' promise on simulated runs: a small part of what benchmarks/calibration.py prints."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks import calibration
from benchmarks.calibration import SCENARIOS, Line, before, calibrate, now, simulate
from suite.results.speedup import family, pairing

SETS = 200  # of equal stacks: 5 % of them is known to +-3 %


def reduced(scenario: str = "process spread", runs: int = SETS) -> Line:
    [found] = calibrate(scenario, blocks=3, ratios=18, runs=runs, seed=1, judges=[now])
    return found


def test_three_blocks_of_18_ratios_keep_their_promise_and_find_what_is_there() -> None:
    found, then = calibrate("process spread", blocks=3, ratios=18, runs=SETS, seed=1, judges=[now, before])
    assert 0.92 <= found.covered <= 0.985
    assert found.false <= 0.06
    assert found.power[1] > 2 * then.power[1] and found.power[2] > 0.9, "1.3x and 2x"
    assert then.covered < 0.7, "Student's t for each ratio by itself"


@pytest.mark.parametrize("scenario", ["modes, baseline", "modes, all", "host's pace"])
def test_no_disturbance_brings_false_verdicts(scenario: str) -> None:
    assert reduced(scenario, runs=100).false <= 0.08


def wrong_level(*args: object) -> np.ndarray:
    """As if each ratio were the only one: no p is surprising but by itself."""
    shape = args[0]
    assert isinstance(shape, tuple)
    return np.tile(np.linspace(0, 1, family.DRAWS), (len(shape), 1))


def test_a_wrong_critical_value_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds above fail where every ratio is judged as if it were alone."""
    monkeypatch.setattr(family, "reference", wrong_level)
    found = reduced()
    assert found.covered < 0.85 and found.false > 0.06


def test_a_prior_that_is_believed_too_much_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """One variance for all, by the table of the normal distribution: too sure of the ratios that vary most."""

    def pooled(variances: np.ndarray, blocks: np.ndarray, freedoms: np.ndarray) -> family.Moderated:
        same = np.broadcast_to(variances.mean(axis=-1, keepdims=True), variances.shape)
        return family.Moderated(np.sqrt(same / blocks), np.full(variances.shape, 1e3))

    monkeypatch.setattr(family, "moderate", pooled)
    monkeypatch.setattr(family, "UNEQUAL_SPREADS", 0.0)
    family.reference.cache_clear()
    try:
        assert reduced().covered < 0.92
    finally:
        family.reference.cache_clear()


# --- the simulated runs themselves ---


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_truth_of_a_simulated_run_is_the_mean_of_what_it_shows(scenario: str) -> None:
    random = np.random.default_rng(5)
    world = simulate(random, SCENARIOS[scenario], questions=1, blocks=4000, equal=False)
    seen = (world.logs[:, :, :1] - world.logs[:, :, 2:]).mean(axis=1)
    assert np.allclose(seen, world.truth, atol=0.05)
    assert sorted(set(np.round(np.exp(world.effect.ravel()), 6))) == [1.0, 1.1, 1.3, 2.0]


def test_processes_of_a_question_follow_each_other_with_the_baseline_at_its_places() -> None:
    world = simulate(np.random.default_rng(1), SCENARIOS["process spread"], questions=3, blocks=2, equal=True)
    for question in range(3):
        for block in range(2):
            places = np.argsort(np.argsort(world.started[question, block]))
            assert tuple(places[:2]) == calibration.CONTROLS
    flat = np.sort(world.started, axis=2)
    assert (flat[:, :, -1] - flat[:, :, 0]).max() < 15 * 11, "no other question's process between them"
    assert (flat[:, 1, 0] > flat[:, 0, -1]).all()


def test_the_program_judges_by_the_suite_s_own_functions(monkeypatch: pytest.MonkeyPatch) -> None:
    world = simulate(np.random.default_rng(1), SCENARIOS["process spread"], questions=1, blocks=3, equal=True)
    monkeypatch.setattr(pairing, "log_ratio", lambda stack, baseline: math.log(7.0))
    assert all(each.ratio.value == pytest.approx(7.0) for each in calibration.judged(world))
