"""Simulates runs in rounds, and the same runs sampled alone, for `benchmarks/calibration.py --rounds`.

The processes of a question differ as much as when they are sampled alone, and each turn of a process adds noise of its
own. But the turns of two processes are a third of a second apart, not ten seconds as two processes sampled alone: so a
change of the machine's pace affects both alike.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from benchmarks.calibration import CONTROLS, SCENARIOS, STACKS, Array, Rates, World, rates, simulate

EFFECTS = (1.05, 1.1, 1.2)  # true speedups for which power is computed
ROUNDS = 8
TURN_SECONDS = 0.35  # a quarter of a second of samples, and the hand-over
START_SECONDS = (5.0, 15.0)  # how long a process takes before its first turn
TURN_NOISE = 0.03  # standard deviation of ln(median) of a process's turns
WITH_TIME = ("slow drift", "host's pace", "bursts")  # disturbances by the machine; the others are a process's own


def simulate_in_rounds(
    random: np.random.Generator, scenario: str, questions: int, blocks: int, equal: bool, effects: Sequence[float]
) -> World:
    """Returns one run: all processes of a question are started, then take turns in shuffled order."""
    alone = simulate(random, SCENARIOS["process spread"], questions, blocks, equal, effects)
    started = turn_starts(random, questions, blocks)
    if scenario in WITH_TIME:
        by_round = started.reshape(questions, blocks * ROUNDS, -1)
        added, mean = SCENARIOS[scenario](random, by_round)
        added = added.reshape(started.shape)
    else:
        added, mean = SCENARIOS[scenario](random, alone.started)
        added = added[:, :, None, :]
    turns = alone.logs[:, :, None, :] + added + TURN_NOISE * random.standard_normal(started.shape)
    truth = alone.effect + mean[:, :1] - mean[:, 2:]
    return World(alone.started, np.median(turns, axis=2), truth, alone.effect, turns)


def turn_starts(random: np.random.Generator, questions: int, blocks: int) -> Array:
    """Returns the start of each turn in seconds, [question, block, round, process]."""
    processes = STACKS + len(CONTROLS)
    order = np.argsort(random.random((questions, blocks, ROUNDS, processes)), axis=3)
    inside = TURN_SECONDS * (processes * np.arange(ROUNDS)[:, None] + order)
    lasts = (
        random.uniform(*START_SECONDS, (blocks, questions, processes)).sum(axis=2) + TURN_SECONDS * ROUNDS * processes
    )
    ends = np.cumsum(lasts.ravel()).reshape(blocks, questions).T
    return np.asarray(ends[:, :, None, None] - TURN_SECONDS * ROUNDS * processes + inside)


def calibrate_both(scenario: str, blocks: int, ratios: int, runs: int, seed: int) -> tuple[Rates, Rates]:
    """Returns the rates of runs in rounds, and those of runs whose processes are sampled alone."""
    questions = ratios // STACKS
    random = np.random.default_rng([seed, blocks, ratios, list(SCENARIOS).index(scenario)])
    sizes = ((True, runs), (False, max(2, runs // 4)))
    in_rounds = [
        [simulate_in_rounds(random, scenario, questions, blocks, equal, EFFECTS) for _ in range(count)]
        for equal, count in sizes
    ]
    alone = [
        [simulate(random, SCENARIOS[scenario], questions, blocks, equal, EFFECTS) for _ in range(count)]
        for equal, count in sizes
    ]
    return rates(*in_rounds, EFFECTS), rates(*alone, EFFECTS)


def show(cells: Iterable[tuple[str, int, int]], runs: int, seed: int) -> None:
    """Prints a line for each scenario, number of blocks and number of ratios."""
    heads = "covered false " + " ".join(f"{size:5.2f}x" for size in EFFECTS)
    print(f"All in percent; {runs} runs, seed {seed}\n")
    print(f"{'':16} {'':>6} {'':>6}   {'in rounds':34}   {'alone':34}")
    print(f"{'scenario':16} {'blocks':>6} {'ratios':>6}   {heads}   {heads}")
    for scenario, blocks, ratios in cells:
        in_rounds, alone = calibrate_both(scenario, blocks, ratios, runs, seed)
        print(f"{scenario:16} {blocks:6} {ratios:6}   {in_rounds}   {alone}", flush=True)
