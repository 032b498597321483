"""Total times over steps, the first call included."""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import permutations

from tests.sentences.facts.reader import EAGER, Truth

MATTERS, MANY = 1000, 10**9  # steps: of a long first run; after which totals count as parallel


@dataclass(frozen=True)
class Calls:
    first: float
    second: float
    steady: float

    def total(self, steps: int) -> float:
        return self.first if steps == 1 else self.first + self.second + (steps - 2) * self.steady


def calls(truth: Truth, on: str) -> dict[str, Calls]:
    found = {}
    for who in truth.counting(on):
        cell = truth.cells[on][who]
        first, second = cell.call("first"), cell.call("second")
        if first is not None and second is not None:
            found[who] = Calls(first, second, truth.time(on, who))
    return found


def least(truth: Truth, on: str) -> list[tuple[int, str]]:
    """Returns (first step, stack) of each stretch of steps over which one stack has the least total time."""
    known, steps = calls(truth, on), {1, 2}
    for one, other in permutations(known.values(), 2):
        if one.steady < other.steady:
            crossing = 2 + (one.total(2) - other.total(2)) / (other.steady - one.steady)
            if 2 <= crossing < MANY:
                steps |= {math.floor(crossing), math.ceil(crossing), math.ceil(crossing) + 1}
    stretches: list[tuple[int, str]] = []
    for step in sorted(steps):
        who = min(known, key=lambda who: (known[who].total(step), known[who].steady, who))
        if not stretches or stretches[-1][1] != who:
            stretches.append((step, who))
    return stretches


def long_first(truth: Truth, on: str, who: str) -> float | None:
    """Returns the first run's seconds if it takes as long as a thousand steady steps."""
    found = calls(truth, on).get(who)
    return found.first if found and found.first >= MATTERS * found.steady else None


def pays_off(truth: Truth, on: str, who: str, over: str) -> int | None:
    """Returns the first step from which on a stack's total is at most another's for good."""
    ours, theirs = (calls(truth, on).get(each) for each in (who, over))
    if not (ours and theirs) or ours.steady > theirs.steady:
        return None
    behind = ours.total(2) - theirs.total(2)
    if behind > 0:
        saved = theirs.steady - ours.steady
        return 2 + math.ceil(behind / saved) if saved and behind / saved < MANY else None
    return 2 if ours.first > theirs.first else 1


def paid(truth: Truth, who: str) -> tuple[list[int], int]:
    """Returns after how many steps a compiled stack pays off where it is faster than the eager one, and of how many
    questions."""
    under, steps, asked = truth.upon(EAGER)[who], [], 0
    for on, cells in truth.cells.items():
        if who in cells and under in cells:
            asked += 1
            ratio = truth.pair_word(on, who, EAGER)
            since = pays_off(truth, on, who, under) if ratio and ratio.word == "faster" else None
            steps += [since] if since is not None else []
    return steps, asked
