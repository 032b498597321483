"""Checks the verdicts: applies the suite's own statistics to simulated runs whose true speedups are known.

Every run is simulated process by process: when each process ran, how much equal processes of a stack differ, and what
the machine did meanwhile. The functions of suite.verdicts judge the run.

    PYTHONPATH=. .venv/bin/python benchmarks/calibration.py --runs=400 --seed=1

Needs only the orchestrator's environment. From n runs, a share of 5 % is known to within 2 sqrt(.05 x .95 / n).
"""

from __future__ import annotations

import argparse
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from suite.protocol import Protocol
from suite.stats import is_doubtful, reach
from suite.verdicts.leads import behind, leaders
from suite.verdicts.pairing import Timing
from suite.verdicts.speedups import Pairing

Array = NDArray[np.float64]

STACKS = 9  # stacks beside the baseline, on each question
CONTROLS = (2, 8)  # places of the baseline's two processes among the processes of a question
BASELINE = "baseline"
DIRECTIONS = ("faster", "slower")
TIE, CONFIDENCE = 1.03, 0.95
# Two numbers in parentheses are the bounds of a uniform distribution.
SPREADS = (0.02, 0.10)  # standard deviation of ln(time) of equal processes, drawn for each stack and question
SECONDS = (5.0, 15.0)  # duration of a process
EFFECTS = (1.1, 1.3, 2.0)  # true speedups, in the runs for which power is computed
SLOW_SHARE, SLOW = 0.3, (1.5, 3.6)  # a slow mode: the share of processes that are in it, and their factor of time
NOISY = (0.10, 0.20)  # standard deviation of the two stacks that vary most
DRIFT = 1.3  # factor of time at the end of a run
PACE, DWELL = 1.17, (10.0, 20.0)  # a host with two paces: the factor of time, and the seconds between changes
BURST_SHARE, BURST = 0.05, (1.1, 2.0)  # a neighbour: the share of processes that it slows, and their factor of time


@dataclass(frozen=True, slots=True)
class World:
    """A simulated run: start of each process in seconds and ln of its time, [question, block, process].

    Processes 0 and 1 are the baseline's, each other process is of a stack of its own. `truth` is the expected log ratio
    of each stack over the baseline, `effect` the log ratio of their fast modes, both [question, stack].
    """

    started: Array
    logs: Array
    truth: Array
    effect: Array
    turns: Array | None = None  # of a run in rounds: ln of the median of each turn, [question, block, round, process]


Disturbance = Callable[[np.random.Generator, Array], tuple[Array, Array]]


# Every disturbance returns (what it adds to ln(time) of each process, the mean of that by [question, process]).


def quiet(random: np.random.Generator, started: Array) -> tuple[Array, Array]:
    """Nothing disturbs the processes."""
    return np.zeros_like(started), np.zeros((started.shape[0], started.shape[2]))


def modes(random: np.random.Generator, started: Array) -> tuple[Array, Array]:
    """Every stack has a slow mode, in which a process runs or not, at random."""
    questions, _, processes = started.shape
    slow = np.log(random.uniform(*SLOW, (questions, processes)))
    slow[:, 1] = slow[:, 0]  # both are the baseline
    return slow[:, None, :] * (random.random(started.shape) < SLOW_SHARE), SLOW_SHARE * slow


def baseline_modes(random: np.random.Generator, started: Array) -> tuple[Array, Array]:
    """Only the baseline has a slow mode."""
    added, mean = modes(random, started)
    added[:, :, 2:] = mean[:, 2:] = 0
    return added, mean


def drift(random: np.random.Generator, started: Array) -> tuple[Array, Array]:
    """The machine becomes steadily slower from the start of a run to its end."""
    added, mean = quiet(random, started)
    return added + math.log(DRIFT) * started / started.max(), mean


def pace(random: np.random.Generator, started: Array) -> tuple[Array, Array]:
    """The host alternates between a fast and a slow pace every few seconds."""
    turns = np.cumsum(random.uniform(*DWELL, int(started.max() / DWELL[0]) + 2))
    added, mean = quiet(random, started)
    return added + math.log(PACE) * (np.searchsorted(turns, started) % 2), mean


def bursts(random: np.random.Generator, started: Array) -> tuple[Array, Array]:
    """A neighbour slows down some processes, chosen at random."""
    hit = random.random(started.shape) < BURST_SHARE
    return hit * np.log(random.uniform(*BURST, started.shape)), quiet(random, started)[1]


def noisy_stacks(random: np.random.Generator, started: Array) -> tuple[Array, Array]:
    """Two stacks vary far more than the others, on every question."""
    added, mean = quiet(random, started)
    deviations = random.uniform(*NOISY, (started.shape[0], 1, 2))
    added[:, :, 2:4] = deviations * random.standard_normal(added[:, :, 2:4].shape)
    return added, mean


SCENARIOS: dict[str, Disturbance] = {
    "process spread": quiet,
    "noisy stacks": noisy_stacks,
    "modes, baseline": baseline_modes,
    "modes, all": modes,
    "slow drift": drift,
    "host's pace": pace,
    "bursts": bursts,
}


def simulate(
    random: np.random.Generator,
    disturb: Disturbance,
    questions: int,
    blocks: int,
    equal: bool,
    effects: Sequence[float] = EFFECTS,
    spreads: tuple[float, float] = SPREADS,
) -> World:
    """Returns one simulated run. The processes of a question run one after the other: the stacks in shuffled order, the
    baseline's at the places CONTROLS."""
    processes = STACKS + len(CONTROLS)
    order = np.array([shuffled(random) for _ in range(questions * blocks)]).reshape(questions, blocks, processes)
    ends = np.cumsum(random.uniform(*SECONDS, (blocks, questions, processes)).ravel())
    slots = np.concatenate([[0.0], ends[:-1]]).reshape(blocks, questions, processes).transpose(1, 0, 2)
    started = np.take_along_axis(slots, order, axis=2)
    deviations = random.uniform(*spreads, (questions, processes))
    deviations[:, 1] = deviations[:, 0]
    effect = np.zeros((questions, STACKS))
    if not equal:
        effect[:, :: STACKS // len(effects)] = np.log(effects)
    added, mean = disturb(random, started)
    logs = deviations[:, None, :] * random.standard_normal(started.shape) + added
    logs[:, :, 2:] -= effect[:, None, :]
    return World(started, logs, effect + mean[:, :1] - mean[:, 2:], effect)


def shuffled(random: np.random.Generator) -> list[int]:
    """Returns the place of each process of a question: CONTROLS for the baseline's, the others at random."""
    free = [slot for slot in range(STACKS + len(CONTROLS)) if slot not in CONTROLS]
    return [*CONTROLS, *random.permutation(free)]


def pairing_of(world: World) -> Pairing:
    """Returns a run's processes as the suite pairs them."""
    questions, blocks, processes = world.logs.shape
    seconds = np.exp(world.logs)
    timings: dict[tuple[str, str], dict[int, list[Timing]]] = {}
    for q in range(questions):
        for process in range(processes):
            stack, replicate = (BASELINE, process + 1) if process < 2 else (f"stack{process - 2}", 1)
            of_stack = timings.setdefault((str(q), stack), {})
            for b in range(blocks):
                timing = Timing(replicate, 0, float(world.started[q, b, process]), float(seconds[q, b, process]))
                if world.turns is not None:
                    medians = np.exp(world.turns[q, b, :, process]).tolist()
                    timing = replace(timing, sampling="rounds", turns={(1, n): s for n, s in enumerate(medians, 1)})
                of_stack.setdefault(b, []).append(timing)
    names = {str(q): str(q) for q in range(questions)}
    protocol = Protocol(blocks=blocks, blocks_max=blocks, tie_ratio=TIE, confidence=CONFIDENCE)
    return Pairing(timings, names, frozenset(stack for _, stack in timings), protocol, BASELINE)


@dataclass(frozen=True, slots=True)
class Answers:
    """Which wrong statements the report makes on each question of a run whose stacks are all equal, [question].

    `table`: its table says that a stack is `faster` or `slower` than the baseline. `in_set`: a verdict that regards all
    ratios of the run as one family says so. `answer`: some stack doesn't lead, since another is said to be faster, over
    whatever baseline. `alarm`: the baseline's two processes are said to differ (the A/A alarm).
    """

    table: Array
    in_set: Array
    answer: Array
    alarm: Array


def answers_of(world: World) -> Answers:
    """Returns the wrong statements about a run of equal stacks, by the suite's verdicts and by its rule of who leads
    (`suite.verdicts.leads`)."""
    pairing, questions = pairing_of(world), world.logs.shape[0]
    stacks = [BASELINE, *(f"stack{n}" for n in range(STACKS))]
    speedups = pairing.over(BASELINE).values()
    wrong = np.zeros((4, questions))
    for q in range(questions):
        of_question = [speedup for speedup in speedups if speedup.comparison_id == str(q)]
        wrong[0, q] = any(speedup.verdict in DIRECTIONS for speedup in of_question)
        wrong[1, q] = any(speedup.in_set in DIRECTIONS for speedup in of_question)
        wrong[2, q] = len(leaders(stacks, behind(pairing)[str(q)])) < len(stacks)
    for twin in pairing.twins():
        wrong[3, int(twin.comparison_id)] = is_doubtful(twin.ratio, CONFIDENCE)
    return Answers(*wrong)


@dataclass(frozen=True, slots=True)
class Judged:
    """One run's intervals, in logs, and the directions of its verdicts (+1 faster, -1 slower, 0 neither),
    [question, stack]."""

    low: Array
    high: Array
    direction: Array


def judged(world: World) -> Judged:
    """Judges a run by the suite's statistics."""
    speedups = pairing_of(world).over(BASELINE).values()
    shape = world.truth.shape
    ends = [[speedup.ratio.low or math.nan, speedup.ratio.high or math.nan] for speedup in speedups]
    low, high = np.log(np.array(ends)).T
    direction = np.array([{"faster": 1, "slower": -1}.get(speedup.verdict, 0) for speedup in speedups])
    return Judged(low.reshape(shape), high.reshape(shape), direction.reshape(shape))


@dataclass(frozen=True, slots=True)
class Rates:
    """How often the verdicts are right: the share of questions whose intervals all contain the truth (`covered`), the
    share of questions with a false verdict (`false`), and the share of speedups that are found, for each of the true
    ones (`power`)."""

    covered: float
    false: float
    power: tuple[float, ...]

    def __str__(self) -> str:
        return " ".join(f"{100 * share:6.1f}" for share in (self.covered, self.false, *self.power))


def rates(equal: Sequence[World], unequal: Sequence[World], effects: Sequence[float] = EFFECTS) -> Rates:
    """Returns the rates of the suite's statistics: coverage and false verdicts from runs whose stacks are equal, power
    from the others."""
    covered, false = [], []
    for world in equal:
        verdicts = judged(world)
        covered += [*np.all((verdicts.low <= world.truth) & (world.truth <= verdicts.high), axis=1)]
        false += [*np.any(verdicts.direction != 0, axis=1)]
    faster: list[Any] = [judged(world).direction == 1 for world in unequal]
    power = [
        np.mean([hits[np.isclose(world.effect, math.log(size))] for hits, world in zip(faster, unequal, strict=True)])
        for size in effects
    ]
    return Rates(float(np.mean(covered)), float(np.mean(false)), tuple(map(float, power)))


def calibrate(scenario: str, blocks: int, ratios: int, runs: int, seed: int) -> Rates:
    """Returns the rates on so many runs of equal stacks, and a quarter as many with true speedups."""
    random = np.random.default_rng([seed, blocks, ratios, list(SCENARIOS).index(scenario)])
    worlds = [
        [simulate(random, SCENARIOS[scenario], ratios // STACKS, blocks, equal) for _ in range(count)]
        for equal, count in ((True, runs), (False, max(2, runs // 4)))
    ]
    return rates(*worlds)


def answers(scenario: str, blocks: int, questions: int, runs: int, seed: int) -> tuple[float, ...]:
    """Returns how often the report is wrong about equal stacks: the shares of questions with a false verdict in the
    table and with a wrong answer; the shares of runs with a false verdict in the whole set and with an A/A alarm."""
    random = np.random.default_rng([seed, blocks, questions, list(SCENARIOS).index(scenario)])
    reports = [answers_of(simulate(random, SCENARIOS[scenario], questions, blocks, equal=True)) for _ in range(runs)]
    by_question = [np.mean([getattr(report, name) for report in reports]) for name in ("table", "answer")]
    by_run = [np.mean([getattr(report, name).any() for report in reports]) for name in ("in_set", "alarm")]
    return tuple(map(float, (*by_question, *by_run)))


def reaches(spread: float, blocks: int, runs: int, seed: int) -> tuple[float, float, float]:
    """Returns, for equal stacks on two questions, the median half-width of an interval, as a factor, and the shares of
    ratios whose verdict is `tie`, and is `tie` or `close`. The processes of all stacks have the standard deviation
    `spread` of ln(time)."""
    random, widths, words = np.random.default_rng([seed, blocks]), [], []
    for _ in range(runs):
        world = simulate(random, quiet, 2, blocks, equal=True, spreads=(spread, spread))
        for speedup in pairing_of(world).over(BASELINE).values():
            widths.append(reach(speedup.ratio) or math.inf)
            words.append(speedup.verdict)
    return float(np.median(widths)), *(float(np.mean(np.isin(words, band))) for band in (["tie"], ["tie", "close"]))


def cells(options: argparse.Namespace) -> Iterator[tuple[str, int, int]]:
    """Yields each combination of scenario, blocks and ratios in the options."""
    for scenario in options.scenario or SCENARIOS:
        for blocks in options.blocks:
            for ratios in options.ratios:
                yield scenario, blocks, ratios


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0] if __doc__ else "")
    parser.add_argument("--runs", type=int, default=400, help="simulated runs of equal stacks in each line")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--blocks", type=int, nargs="+", default=[3, 5, 15])
    parser.add_argument("--ratios", type=int, nargs="+", default=[9, 18, 72], help=f"multiples of {STACKS}")
    parser.add_argument("--scenario", nargs="+", choices=SCENARIOS)
    parser.add_argument("--answers", action="store_true", help="how often reports are wrong about equal stacks")
    parser.add_argument("--reach", action="store_true", help="how narrow intervals are, by the spread of processes")
    parser.add_argument("--rounds", action="store_true", help="runs in rounds, beside runs whose processes run alone")
    parser.add_argument("--until", action="store_true", help="runs that look after every block until they are decided")
    options = parser.parse_args()
    if options.until:
        from benchmarks import calibration_until_decided

        calibration_until_decided.show(options)
        return
    if options.rounds:
        from benchmarks import calibration_in_rounds

        calibration_in_rounds.show(cells(options), options.runs, options.seed)
        return
    if options.reach:
        print(f"Equal stacks on two questions; {options.runs} runs, seed {options.seed}\n")
        print(f"{'spread':>6} {'blocks':>6} {'half-width':>10} {'tie, %':>7} {'tie or close, %':>15}")
        for spread, blocks in itertools.product((0.01, 0.02, 0.03, 0.05), options.blocks):
            width, tie, close = reaches(spread, blocks, options.runs, options.seed)
            print(f"{spread:6.0%} {blocks:6} {width - 1:10.1%} {100 * tie:7.1f} {100 * close:15.1f}", flush=True)
        return
    if options.answers:
        print(f"Equal stacks, in percent of questions and of runs; {options.runs} runs, seed {options.seed}\n")
        print(f"{'':16} {'':>6} {'':>9} {'of questions':>15}   {'of runs':>15}")
        print(f"{'scenario':16} {'blocks':>6} {'questions':>9} {'table':>7} {'answer':>7}   {'in set':>7} {'alarm':>7}")
        for scenario, blocks, ratios in cells(options):
            shares = [100 * share for share in answers(scenario, blocks, ratios // STACKS, options.runs, options.seed)]
            shown = "{:7.1f} {:7.1f}   {:7.1f} {:7.1f}".format(*shares)
            print(f"{scenario:16} {blocks:6} {ratios // STACKS:9} {shown}", flush=True)
        return
    heads = "covered false " + " ".join(f"{size:5.1f}x" for size in EFFECTS)
    print(f"All in percent; {options.runs} runs, seed {options.seed}\n")
    print(f"{'scenario':16} {'blocks':>6} {'ratios':>6}   {heads}")
    for scenario, blocks, ratios in cells(options):
        found = calibrate(scenario, blocks, ratios, options.runs, options.seed)
        print(f"{scenario:16} {blocks:6} {ratios:6}   {found}", flush=True)


if __name__ == "__main__":
    main()
