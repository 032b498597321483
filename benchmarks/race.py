"""Races our training step against the same step with another library's model, on the same weights.

Each side has its own process, as in the suite: in a shared process, the side that is placed first gets other memory.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from multiprocessing import Pipe, get_context
from typing import Any

from benchmarks.pairs import PAIRS, compare, median_of_clock, prepared, started

STEPS = 3  # whose losses must agree: the first loss checks the forward pass, the others gradients and optimizer
AGREEMENT = 1e-4  # relative difference of two losses


def arguments(about: str | None, stacks: Sequence[str], models: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """Returns a parser with the options that every race has."""
    parser = argparse.ArgumentParser(description=about)
    parser.add_argument("--model", default="gpt2", choices=models)
    parser.add_argument("--size", default="full")
    parser.add_argument("--stack", default=stacks[0], choices=stacks)
    parser.add_argument("--pairs", type=int, default=20, choices=PAIRS)
    parser.add_argument("--seconds", type=float, default=0.5, help="of samples on each side of a pair, at least one")
    parser.add_argument("--threads", type=int, default=2)
    return parser


def race(options: argparse.Namespace, made: Callable[[Any], Any]) -> None:
    """Races our adapter against `made(adapter)`, which has their model, after checking that both have equal losses."""
    with side(options, lambda ours: ours) as (_, our_losses, ours), side(options, made) as (name, their_losses, theirs):
        case = f"{options.model} {options.size} train, {options.stack}, {options.threads} threads"
        print(f"{case}: ours against {name}")
        agree(our_losses, their_losses)
        compare(ours, theirs, options.pairs)


@contextmanager
def side(
    options: argparse.Namespace, made: Callable[[Any], Any]
) -> Iterator[tuple[str, list[float], Callable[[], float]]]:
    """Yields (name, losses of the first steps, function that takes a reading in seconds) of a side in a new process."""
    here, there = Pipe()
    # Forking is safe, since this process hasn't imported anything that a fork would break.
    process = get_context("fork").Process(target=serve, args=(there, options, made), daemon=True)
    process.start()
    there.close()

    def read() -> float:
        here.send(options.seconds)
        return float(here.recv())

    try:
        yield *here.recv(), read
    except EOFError:
        raise SystemExit("The process of one side ended early; its messages are above.") from None
    finally:
        with suppress(BrokenPipeError):
            here.send(None)
        process.join()


def serve(pipe: Any, options: argparse.Namespace, made: Callable[[Any], Any]) -> None:
    """Runs in a side's process: sends its name and losses, then a reading for each duration that it receives, until it
    receives None."""
    with prepared(options.stack, options.model, options.size, {}, "train", options.threads) as adapter:
        raced = made(adapter)
        clock = started(raced)
        pipe.send((str(raced), losses(clock)))
        for seconds in iter(pipe.recv, None):
            pipe.send(median_of_clock(clock, seconds))


def losses(clock: Any) -> list[float]:
    """Returns the losses of the first steps, in which everything is compiled."""
    first_losses = []
    for _ in range(STEPS):
        clock.synced()
        first_losses.append(float(clock.fetch(clock.outputs)))
    return first_losses


def agree(ours: list[float], theirs: list[float]) -> None:
    """Raises SystemExit unless the losses of both sides agree."""
    for step, (a, b) in enumerate(zip(ours, theirs, strict=True), 1):
        print(f"loss of step {step}: ours {a:.6f}, theirs {b:.6f}")
        if not abs(a - b) <= AGREEMENT * abs(b):
            raise SystemExit("The losses differ: this isn't the same model.")


class Theirs:
    """A mixin that stands before our adapter's class and replaces its model."""

    def __init__(self, ours: Any) -> None:
        vars(self).update(vars(ours))
