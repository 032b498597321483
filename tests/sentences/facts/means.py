"""Geometric means over groups of questions."""

from __future__ import annotations

import math
from collections import defaultdict
from statistics import fmean

from tests.sentences.facts.estimates import Ratio, moderated
from tests.sentences.facts.reader import Truth


def geometric(truth: Truth, kept: dict[str, list[Ratio]]) -> dict[str, Ratio]:
    logs: dict[str, dict[int, float]] = {}
    for who, ratios in kept.items():
        blocks = set.intersection(*(set(ratio.logs) for ratio in ratios)) if ratios else set()
        per_block = {block: fmean(ratio.logs[block] for ratio in ratios) for block in sorted(blocks)}
        mean = fmean(math.log(ratio.value) for ratio in ratios) if ratios else 0.0
        logs[who] = {block: log - fmean(per_block.values()) + mean for block, log in per_block.items()}
    known = moderated(truth.pairs.means(logs))
    found = {}
    for who, ratios in kept.items():
        if len(ratios) == 1:
            found[who] = ratios[0]
        elif ratios:
            value = math.exp(fmean(math.log(ratio.value) for ratio in ratios))
            ends = known[who].ends(truth.pairs.doubt / len(known)) if who in known else (None, None)
            found[who] = Ratio(value, *ends)
    return found


def means(truth: Truth, group: str) -> tuple[dict[str, Ratio], dict[str, int], int]:
    """Returns the means of the stacks that have a ratio on each question of a group, how many the others lack, and the
    number of questions. One without a time of the baseline isn't among them."""
    words = {part.removesuffix(" track") for part in group.split(", ")} - {"", "all questions"}
    questions = []
    for on, cells in truth.cells.items():
        head = next(iter(cells.values())).rows[0]
        if words <= {head["pass"], head["track"], head["precision"]} and truth.baseline in truth.counting(on):
            questions.append(truth.ids[on])
    stacks = {who for on in truth.cells for who in truth.cells[on]} - {truth.baseline}
    kept = {who: [truth.over_own[id_, who] for id_ in questions if (id_, who) in truth.over_own] for who in stacks}
    known = geometric(truth, {who: of for who, of in kept.items() if of})
    lacking = {who: len(questions) - len(of) for who, of in kept.items() if len(of) < len(questions)}
    return {who: mean for who, mean in known.items() if who not in lacking}, lacking, len(questions)


def groups(truth: Truth) -> int:
    """Returns the number of groups of questions, each with a time of the baseline: all, and those of two questions or
    more that share track, pass and precision where the set has several."""
    heads = {on: next(iter(cells.values())).rows[0] for on, cells in truth.cells.items()}
    varying = [name for name in ("pass", "track", "precision") if len({head[name] for head in heads.values()}) > 1]
    alike: dict[tuple[str, ...], list[str]] = defaultdict(list)
    for on, head in heads.items():
        alike[tuple(head[name] for name in varying)].append(on)
    several = [of for of in alike.values() if len(of) > 1 and varying]
    return sum(any(truth.baseline in truth.counting(on) for on in of) for of in [[*heads], *several])
