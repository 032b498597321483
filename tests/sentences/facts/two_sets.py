"""Two sets, which share no blocks: nothing is paired."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean, median

import numpy as np

from tests.sentences.facts.blocks import seconds
from tests.sentences.facts.estimates import Mean, Ratio, holm, judged, moderated
from tests.sentences.facts.reader import Truth

LIKE = {"machine_id": "machine", "target": "target", "device": "device", "precision": "precision", "threads": "cores",
        "allocator": "allocator", "sampling": "way of sampling", "limit_memory_bytes": "memory limit"}  # fmt: skip


THRESHOLD = 1.05  # a ratio of times, beyond which a case in a later set is worse


class Two(Truth):
    """A set, and a second one that is compared with it."""

    def __init__(self, folder: Path, second: Truth) -> None:
        super().__init__(folder)
        self.second = second

    @cached_property
    def changes(self) -> Changes:
        return changes(self, self.second)


@dataclass(frozen=True)
class Changes:
    """{case: (second over first, outcomes)} of the cases of two sets, the machine's drift, in what the sets differ."""

    cases: dict[str, tuple[Ratio | None, str, str]]
    drift: float | None
    unlike: list[str]

    @property
    def counted(self) -> tuple[int, int, int]:
        """How many cases changed, of how many, and how many are worse."""
        changed = sum(bool(ratio and ratio.word in ("faster", "slower")) for ratio, *_ in self.cases.values())
        worse = sum(
            (before == "ok" != after) or bool(ratio and ratio.word == "slower" and 1 / ratio.value > THRESHOLD)
            for ratio, before, after in self.cases.values()
        )
        return changed, len(self.cases), worse

    @property
    def shift(self) -> float:
        return math.exp(median(math.log(ratio.value) for ratio, *_ in self.cases.values() if ratio))


def changes(first: Truth, second: Truth) -> Changes:
    """Compares the cases that two sets share; nothing is paired."""
    cells = [
        {of.rows[0]["case"]: (on, who, of) for on, cells in truth.cells.items() for who, of in cells.items()}
        for truth in (first, second)
    ]
    both = [case for case in cells[0] if case in cells[1]]
    values = [
        {name: {row.get(name) for case in both for row in of[case][2].rows} - {None} for name in LIKE} for of in cells
    ]
    unlike = [
        words
        for name, words in LIKE.items()
        if values[0][name] and values[1][name] and values[0][name] != values[1][name]
    ]
    ceilings = [
        truth.file("ceilings.json").get("readings", [{}])[0].get("flops_per_second") for truth in (first, second)
    ]
    drift = max(ceilings[0] / ceilings[1], ceilings[1] / ceilings[0]) if all(ceilings) else None
    logs = {}
    for case in both:
        sides = [(truth.ids[of[case][0]], of[case][1]) for truth, of in zip((first, second), cells, strict=True)]
        if all(side in truth.pairs.sides for side, truth in zip(sides, (first, second), strict=True)):
            logs[case] = [
                [*map(math.log, seconds(t.pairs.sides[s]))] for s, t in zip(sides, (first, second), strict=True)
            ]
    known = moderated({case: welch(first, *of) for case, of in logs.items() if min(map(len, of)) > 1})
    adjusted, doubt, found = holm({case: mean.p for case, mean in known.items()}), first.pairs.doubt, {}
    for case in both:
        ratio = None
        if case in logs:
            value, (low, high) = math.exp(fmean(logs[case][0]) - fmean(logs[case][1])), (None, None)
            if case in known:
                low, high = known[case].ends(doubt / len(known))
                if adjusted[case] <= doubt:
                    low, high = (max(low, 1.0), high) if value > 1 else (low, min(high, 1.0))
            floors = [truth.twin_of(of[case][0]) for truth, of in zip((first, second), cells, strict=True)]
            limits = [*floors, Ratio(1.0, 1 / drift, drift) if drift else None]
            words = {judged(value, low, high, first.protocol["tie_ratio"], limit, None)[0] for limit in limits}
            ratio = Ratio(value, low, high, "" if unlike else "undecided" if len(words) > 1 else words.pop())
        found[case] = ratio, cells[0][case][2].outcome, cells[1][case][2].outcome
    return Changes(found, drift, unlike)


def welch(truth: Truth, one: list[float], other: list[float]) -> Mean:
    parts = [float(np.var(logs, ddof=1)) / len(logs) for logs in (one, other)]
    freedoms = [truth.pairs.mean(dict(enumerate(logs))).freedom for logs in (one, other)]
    below = sum(part**2 / freedom for part, freedom in zip(parts, freedoms, strict=True))
    freedom = max(1, math.floor(sum(parts) ** 2 / below)) if below else sum(freedoms)
    return Mean(fmean(one) - fmean(other), math.sqrt(sum(parts)), freedom, int(freedom) + 1)
