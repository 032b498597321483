"""Simulates runs that are judged after every block until they are decided, for `benchmarks/calibration.py --until`.

The processes are those of runs with a fixed number of blocks. After every block from the first look on, the suite's own
rule says which stacks leave (`suite.verdicts.looks`): their later processes never ran.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any
from unittest.mock import patch

import numpy as np

from benchmarks.calibration import (
    BASELINE,
    CONFIDENCE,
    DIRECTIONS,
    SCENARIOS,
    SPREADS,
    TIE,
    World,
    pairing_of,
    simulate,
)
from suite.protocol import Protocol
from suite.verdicts import pairing
from suite.verdicts.looks import standings
from suite.verdicts.pairing import Timing
from suite.verdicts.speedups import Pairing
from suite.verdicts.verdicts import Speedup

EFFECTS = (1.02, 1.05, 1.1, 1.2, 1.5, 2.0)  # true speedups, of the stacks in turn
OF_EQUAL = 4  # how many questions of equal stacks there are for one with true speedups
PROTOCOL = Protocol(blocks=3, blocks_max=3, until="decided", tie_ratio=TIE, confidence=CONFIDENCE)


@dataclass(frozen=True, slots=True)
class Run:
    """One question, run to its end: every ratio as its last look judged it, by stack; the first block after which it
    had a verdict; whether any look had a direction for some stack; and how many processes ran."""

    speedups: dict[str, Speedup]
    sure: dict[str, int]
    directed: bool
    processes: int
    decided: bool


def asked(world: World, ratios: int, protocol: Protocol = PROTOCOL) -> Pairing:
    """Returns the pairing of a world's one question, without the stacks after the first `ratios`."""
    paired, names = pairing_of(world), {BASELINE, *(f"stack{n}" for n in range(ratios))}
    timings = {side: of for side, of in paired.timings.items() if side[1] in names}
    return replace(paired, timings=timings, stacks=frozenset(names), protocol=protocol)


def first_blocks(whole: Pairing, blocks: int) -> Pairing:
    """Returns the same processes of a run with a fixed number of blocks."""
    timings = {side: {b: of for b, of in by_block.items() if b < blocks} for side, by_block in whole.timings.items()}
    protocol = replace(PROTOCOL, until="blocks", blocks=blocks, blocks_max=blocks)
    return replace(whole, timings=timings, protocol=protocol)


@contextmanager
def remembered_pairs() -> Iterator[None]:
    """Pairs the same processes of a run once, not anew at each look, which would be half of the time."""
    known: dict[tuple[int, ...], float | None] = {}
    paired = pairing.log_ratio

    def log_ratio(stack: Sequence[Timing], baseline: Sequence[Timing]) -> float | None:
        key = id(stack[0]), len(stack), id(baseline[0]), len(baseline)
        if key not in known:
            known[key] = paired(stack, baseline)
        return known[key]

    with patch.object(pairing, "log_ratio", log_ratio):
        yield


def run_until_decided(whole: Pairing) -> Run:
    """Runs the blocks of a pairing until every ratio is decided, or the last look is over."""
    with remembered_pairs():
        return looked_at(whole)


def looked_at(whole: Pairing) -> Run:
    left, sure, directed = dict[str, int](), dict[str, int](), False
    for blocks in range(whole.protocol.first_look, whole.protocol.looks_max + 1):
        ran = {
            side: {b: of for b, of in timings.items() if b < min(blocks, left.get(side[1], blocks))}
            for side, timings in whole.timings.items()
        }
        (now,) = standings(replace(whole, timings=ran))
        directed |= any(speedup.verdict in DIRECTIONS for speedup in now.speedups)
        known = {speedup.stack for speedup in now.speedups if speedup.verdict != "undecided"}
        sure |= dict.fromkeys(known - sure.keys(), blocks)
        if not now.unsure:
            break
        left |= dict.fromkeys({*now.order} - now.go_on - left.keys(), blocks)
    processes = sum(len(of) for timings in ran.values() for of in timings.values())
    return Run({speedup.stack: speedup for speedup in now.speedups}, sure, directed, processes, not now.unsure)


def calibrate(scenario: str, ratios: int, runs: int, seed: int, spreads: tuple[float, float] = SPREADS) -> list[float]:
    """Returns, of so many questions of equal stacks, the shares with a false verdict at some look, with intervals that
    all cover the truth, and without an end before the last look, and the mean number of blocks; then, for each effect,
    the share of ratios that are found, the mean number of blocks until they have a verdict, and the share that is found
    by a fixed number of blocks, which takes as many processes."""
    random = np.random.default_rng([seed, ratios, list(SCENARIOS).index(scenario)])

    def worlds(count: int, effects: Sequence[Sequence[float]]) -> Iterable[World]:
        for n in range(count):
            of = effects[n % len(effects)] if effects else ()
            yield simulate(random, SCENARIOS[scenario], 1, PROTOCOL.looks_max, not of, of or EFFECTS[:3], spreads)

    equal = [(world, run_until_decided(asked(world, ratios))) for world in worlds(runs, [])]
    covered = [
        all(covers(speedup, world.truth[0, number(stack)]) for stack, speedup in run.speedups.items())
        for world, run in equal
    ]
    shares = [np.mean([run.directed for _, run in equal]), np.mean(covered)]
    shares += [np.mean([not run.decided for _, run in equal]), blocks_of([run for _, run in equal], ratios)]
    turned = [[*EFFECTS[n:], *EFFECTS[:n], *(1.0,) * 3] for n in range(len(EFFECTS))]  # each effect is first once
    unequal = [
        (world, whole, run_until_decided(whole))
        for world in worlds(max(len(EFFECTS), runs // OF_EQUAL), turned)
        for whole in [asked(world, ratios)]
    ]
    fixed = max(PROTOCOL.first_look, round(blocks_of([run for *_, run in unequal], ratios)))
    hits: dict[float, list[tuple[bool, int, bool]]] = {}
    for world, whole, run in unequal:
        plain = first_blocks(whole, fixed).over(BASELINE)
        for stack, speedup in run.speedups.items():
            effect = round(float(np.exp(world.effect[0, number(stack)])), 6)
            seen = (
                speedup.verdict == "faster",
                run.sure.get(stack, PROTOCOL.looks_max),
                plain["0", stack].verdict == "faster",
            )
            hits.setdefault(effect, []).append(seen)
    return [*map(float, shares), float(fixed), *(value for e in EFFECTS for value in np.mean(hits[e], axis=0).tolist())]


def number(stack: str) -> int:
    return int(stack.removeprefix("stack"))


def covers(speedup: Speedup, truth: float) -> bool:
    low, high = speedup.ratio.low, speedup.ratio.high
    return low is not None and high is not None and np.log(low) <= truth <= np.log(high)


def blocks_of(runs: Sequence[Run], ratios: int) -> float:
    """Returns how many whole blocks take as many processes as these runs took, on average."""
    return float(np.mean([run.processes for run in runs])) / (ratios + 2)


LEGEND = """
{runs:,} questions of equal stacks in each line, seed {seed}, and a quarter as many with true speedups; looks after
blocks {first} to {last}. In percent of questions: *false*, a stack is called faster or slower at some look; *covered*,
all intervals at the end contain the truth; *open*, some ratio is undecided at the last look. *Blocks*: their number,
by processes, as a mean. For each true speedup: the share of ratios that are called faster, the mean number of blocks
until they have a verdict, and the share that a fixed plan of as many processes (*fixed*: its blocks) calls faster.
"""


def show(options: Any) -> None:
    """Prints a table, in Markdown, with a line for each scenario and number of ratios."""
    looks = {"first": PROTOCOL.first_look, "last": PROTOCOL.looks_max}
    print(LEGEND.strip().format(runs=options.runs, seed=options.seed, **looks), end="\n\n")
    heads = ["scenario", "ratios", "false", "covered", "open", "blocks", *(f"{size:g}×" for size in EFFECTS), "fixed"]
    print(f"| {' | '.join(heads)} |\n| --- |{' ---: |' * (len(heads) - 1)}")
    for scenario in options.scenario or SCENARIOS:
        for ratios in options.ratios:
            false, covered, still, blocks, fixed, *found = calibrate(scenario, ratios, options.runs, options.seed)
            shares = [f"{100 * share:.1f}" for share in (false, covered, still)]
            cells = [f"{100 * a:.0f}, {b:.1f}, {100 * c:.0f}" for a, b, c in zip(*[iter(found)] * 3, strict=True)]
            line = [scenario, str(ratios), *shares, f"{blocks:.1f}", *cells, f"{fixed:.0f}"]
            print(f"| {' | '.join(line)} |", flush=True)
