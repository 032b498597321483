"""Total times over steps, the first call included; and geometric means over groups of questions."""

from __future__ import annotations

import math
from collections import defaultdict
from dataclasses import dataclass
from itertools import permutations
from statistics import fmean

from tests.sentences.facts.estimates import Mean, Ratio, moderated
from tests.sentences.facts.reader import EAGER, Truth
from tests.sentences.facts.rows import DETAILS, detail

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
            found[who] = Calls(first, second, cell.average())
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
            ratio = truth.ratio(on, who, under)
            since = pays_off(truth, on, who, under) if ratio and ratio.word == "faster" else None
            steps += [since] if since is not None else []
    return steps, asked


ALL = "all questions"
SHARED = ("track", "threads", "pass", "precision")


def geometric(truth: Truth, kept: dict[str, list[Ratio]]) -> dict[str, Ratio]:
    """Returns {stack: the mean of its ratios}; its interval is of the blocks that all of them share."""
    logs: dict[str, dict[int, float]] = {}
    for who, ratios in kept.items():
        blocks = set.intersection(*(set(ratio.logs) for ratio in ratios))
        per_block = {block: fmean(ratio.logs[block] for ratio in ratios) for block in sorted(blocks)}
        mean = fmean(math.log(ratio.value) for ratio in ratios)
        logs[who] = {block: log - fmean(per_block.values()) + mean for block, log in per_block.items()}
    own = truth.pairs.means(logs)
    if truth.pairs.looks:
        own = {who: of_questions([truth.pairs.mean(ratio.logs) for ratio in kept[who]]) for who in own}
    known, found = moderated(own), {}
    for who, ratios in kept.items():
        value = math.exp(fmean(math.log(ratio.value) for ratio in ratios))
        ends = (
            known[who].ends(truth.pairs.doubt * truth.pairs.look_share / len(known)) if who in known else (None, None)
        )
        found[who] = ratios[0] if len(ratios) == 1 else Ratio(value, *ends)
    return found


def of_questions(means: list[Mean]) -> Mean:
    """Returns the mean over questions of which each has its own blocks (Satterthwaite 1946)."""
    squares = [mean.error**2 for mean in means]
    under = sum(square**2 / mean.freedom for square, mean in zip(squares, means, strict=True))
    freedom = sum(squares) ** 2 / under if under else min(mean.freedom for mean in means)
    error = math.sqrt(sum(squares)) / len(means)
    return Mean(fmean(mean.value for mean in means), error, freedom, min(mean.blocks for mean in means))


def means(truth: Truth, group: str) -> tuple[dict[str, Ratio], dict[str, int], int]:
    """Returns the means of the stacks that have a ratio on each question of a group, how many the others lack, and the
    number of questions. One without a time of the baseline isn't among them."""
    asked = groups(truth)[group]
    ids = [truth.ids[on] for on in asked if truth.baseline in truth.counting(on)]
    stacks = {who for on in asked for who in truth.cells[on]} - {truth.baseline}
    kept = {who: [truth.over_own[id_, who] for id_ in ids if (id_, who) in truth.over_own] for who in stacks}
    known = geometric(truth, {who: of for who, of in kept.items() if of})
    lacking = {who: len(ids) - len(of) for who, of in kept.items() if len(of) < len(ids)}
    return {who: mean for who, mean in known.items() if who not in lacking}, lacking, len(ids)


def groups(truth: Truth) -> dict[str, list[str]]:
    """Returns {group: its questions} of those in which the baseline and others have a time: all, unless one question is
    asked on two tracks or numbers of cores, and those that share what the set has several of."""
    heads = {on: next(iter(cells.values())).rows[0] for on, cells in truth.cells.items()}
    varying = [name for name in SHARED if len({head[name] for head in heads.values()}) > 1]
    found = defaultdict[str, list[str]](list)
    for on, head in heads.items():
        words = ", ".join(detail(head, name) if name in DETAILS else head[name] for name in varying)
        for group in {words, *[ALL] * (not {"track", "threads"} & {*varying})} - {""}:
            found[group].append(on)
    counts = {group: any(truth.baseline in truth.counting(on) for on in of) for group, of in found.items()}
    others = {who for cells in truth.cells.values() for who in cells} - {truth.baseline}
    return {group: of for group, of in found.items() if others and counts[group] and len(of) > 1}
