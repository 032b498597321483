"""The verdicts' promise on simulated runs: a small part of what benchmarks/calibration.py prints."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks import calibration
from benchmarks.calibration import SCENARIOS, Rates, calibrate, judged, simulate
from benchmarks.calibration_in_rounds import ROUNDS, calibrate_both, simulate_in_rounds, turn_starts
from benchmarks.calibration_until_decided import asked, run_until_decided
from suite.protocol import Protocol
from suite.verdicts import family, moderation, pairing

SETS = 200  # of equal stacks: 5 % of them is known to +-3 %


def reduced(scenario: str = "process spread", runs: int = SETS) -> Rates:
    return calibrate(scenario, blocks=3, ratios=18, runs=runs, seed=1)


def test_three_blocks_of_18_ratios_keep_their_promise_and_find_what_is_there() -> None:
    found = reduced()
    assert 0.92 <= found.covered <= 0.985
    assert found.false <= 0.06
    assert found.power[1] > 0.7 and found.power[2] > 0.9, "1.3x and 2x"


@pytest.mark.parametrize("scenario", ["modes, baseline", "modes, all", "host's pace"])
def test_no_disturbance_brings_false_verdicts(scenario: str) -> None:
    assert reduced(scenario, runs=100).false <= 0.08


def test_a_family_that_is_judged_one_by_one_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """The bounds above fail where every ratio is judged as if it were alone."""
    monkeypatch.setattr(family, "doubt_of_each", lambda confidence, size: 1 - confidence)
    monkeypatch.setattr(family, "holm", list)
    found = reduced()
    assert found.covered < 0.85 and found.false > 0.06


def test_a_prior_that_is_believed_too_much_is_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    """One variance for all, by the table of the normal distribution: too sure of the ratios that vary most."""
    assert reduced("noisy stacks").covered > 0.9
    monkeypatch.setattr(moderation, "prior", lambda variances, blocks: (float(np.exp(np.log(variances).mean())), 1e6))
    assert reduced("noisy stacks").covered < 0.88


def ever_directed(questions: int) -> float:
    """The share of two equal stacks that some look calls faster or slower."""
    random = np.random.default_rng(3)
    worlds = [simulate(random, SCENARIOS["noisy stacks"], 1, 20, equal=True) for _ in range(questions)]
    return float(np.mean([run_until_decided(asked(world, 1)).directed for world in worlds]))


def test_looking_after_every_block_keeps_the_promise() -> None:
    assert ever_directed(150) <= 0.05


def test_looks_that_forget_each_other_are_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Protocol, "at_a_look", lambda protocol, confidence: confidence)
    assert ever_directed(150) > 0.05


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
    found = judged(world)
    assert np.allclose(np.exp((found.low + found.high) / 2), 7.0)


# --- rounds ---


def test_rounds_keep_the_promise_and_find_more_where_the_machine_changes_its_pace() -> None:
    in_rounds, alone = calibrate_both("host's pace", blocks=3, ratios=18, runs=60, seed=1)
    assert in_rounds.covered >= 0.88 and in_rounds.false <= 0.08
    assert in_rounds.power[2] > alone.power[2]


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_the_truth_of_a_run_in_rounds_is_the_mean_of_what_it_shows(scenario: str) -> None:
    world = simulate_in_rounds(np.random.default_rng(5), scenario, 1, 2000, equal=False, effects=(1.05, 1.1, 1.2))
    assert world.turns is not None and world.turns.shape == (1, 2000, ROUNDS, world.logs.shape[2])
    seen = (world.logs[:, :, :1] - world.logs[:, :, 2:]).mean(axis=1)
    assert np.allclose(seen, world.truth, atol=0.07)


def test_turns_of_a_question_follow_each_other_round_by_round() -> None:
    starts = turn_starts(np.random.default_rng(1), questions=2, blocks=3)
    flat = starts.transpose(1, 0, 2, 3).reshape(6, ROUNDS, -1)
    assert (np.diff(np.sort(flat.reshape(6, -1))) > 0.3).all() and (flat[1:].min((1, 2)) > flat[:-1].max((1, 2))).all()
    assert (flat[:, 1:].min(2) > flat[:, :-1].max(2)).all()
