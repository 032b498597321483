"""A train step of ours against the same step of another library's model: one process, the same weights, in pairs."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any

from benchmarks.pairs import PAIRS, compare, median_of_clock, prepared, started

STEPS = 3  # whose losses must agree: the first tells the forward pass, the others gradients and optimizer
AGREEMENT = 1e-4  # relative


def arguments(about: str | None, stacks: Sequence[str], models: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """The options that every race has."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--model", default="gpt2", choices=models)
    parser.add_argument("--size", default="seed")
    parser.add_argument("--stack", default=stacks[0], choices=stacks)
    parser.add_argument("--pairs", type=int, default=20, choices=PAIRS)
    parser.add_argument("--seconds", type=float, default=0.5, help="of samples on each side of a pair, at least one")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--theirs-first", action="store_true", help="place theirs first: where memory lies counts")
    return parser


def race(options: argparse.Namespace, made: Callable[[Any], Any]) -> None:
    """`made` turns our adapter into theirs, which differs in the model alone. Asks for equal losses first."""
    with prepared(options.stack, options.model, options.size, {}, "train", options.threads) as ours:
        theirs = made(ours)
        placed = {side: started(side) for side in ((theirs, ours) if options.theirs_first else (ours, theirs))}
        clocks = placed[ours], placed[theirs]
        case = f"{options.model} {options.size} train, {options.stack}, {options.threads} threads"
        print(f"{case}: ours against {theirs}")
        agree(*(losses(clock) for clock in clocks))
        a, b = (lambda clock=clock: median_of_clock(clock, options.seconds) for clock in clocks)
        compare(a, b, options.pairs)


def losses(clock: Any) -> list[float]:
    """Of the first steps; whatever is compiled is compiled then."""
    found = []
    for _ in range(STEPS):
        clock.synced()
        found.append(float(clock.fetch(clock.outputs)))
    return found


def agree(ours: list[float], theirs: list[float]) -> None:
    """Raises SystemExit unless both did the same work."""
    for step, (a, b) in enumerate(zip(ours, theirs, strict=True), 1):
        print(f"loss of step {step}: ours {a:.6f}, theirs {b:.6f}")
        if not abs(a - b) <= AGREEMENT * abs(b):
            raise SystemExit("The losses differ: this isn't the same model.")


class Theirs:
    """Put before an adapter's class: set up like ours, because a framework is set up once a process."""

    def __init__(self, ours: Any) -> None:
        vars(self).update(vars(ours))
