"""One stack under two values of a field, paired in the blocks that they share; and two sets, which share none."""

from __future__ import annotations

import json
import math
from collections import defaultdict
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from statistics import fmean, median

import numpy as np

from tests.sentences.facts.blocks import seconds
from tests.sentences.facts.estimates import Mean, Ratio, ended_at_1, judged, moderated
from tests.sentences.facts.pairs import Pairs
from tests.sentences.facts.reader import Truth
from tests.sentences.facts.rows import Line, key_of, question_names, steady

FIELDS = {"cache": "cold", "track": "default", "precision": "f32", "pass": "forward", "threads": "1",
          "variant": "as locked"}  # fmt: skip
TITLES = {"cold and warm compile cache": "cache", "default and tuned track": "track", "precisions": "precision",
          "forward and training step": "pass", "numbers of cores": "threads",
          "variants of one stack": "variant"}  # fmt: skip
LIKE = {"machine_id": "machine", "weights_sha256": "inputs", "tolerance": "tolerance", "allocator": "allocator",
        "sampling": "way of sampling"}  # fmt: skip
SAID = {"kernel": "kernel", "governor": "governor", "boost": "boost", "smt": "SMT"}  # of machine.json
THRESHOLD = 1.05  # a ratio of times, beyond which a case in a later set is worse


@cache
def settings(truth: Truth, field: str) -> dict[tuple[str, str], dict[str, Ratio]]:
    """Returns {(question, stack): {value: its ratio over the field's usual value}}, all judged as one family."""
    clock, by_id = "first" if field == "cache" else "synced", defaultdict[str, list[Line]](list)
    for row in truth.timed:
        if row["outcome"] == "ok" and steady(row, clock):
            by_id[key_of(row, (field,))].append(row)
    several = {id_: of for id_, of in by_id.items() if len({row[field] for row in of}) > 1}
    unpaired = {} if field == "variant" else {"synced_rounds": None}
    lines = [
        row | {"asked": id_, "who": str(row[field]) or FIELDS[field], "kept": row.get("kept", {})} | unpaired
        for id_, of in several.items()
        for row in of
    ]
    values = sorted({row["who"] for row in lines}, key=lambda v: (v != FIELDS[field], v.isdecimal() and int(v), v))
    if not values:
        return {}
    heads = {id_: of[-1] for id_, of in several.items()}
    asked = {id_: key_of(head, (field, "stack", "variant")) for id_, head in heads.items()}
    names = question_names({asked[id_]: head for id_, head in heads.items()}, without=field)
    found: dict[tuple[str, str], dict[str, Ratio]] = defaultdict(dict)
    pairs = Pairs.of(lines, truth.protocol, values[0], clock, one_family=True)
    for (id_, value), ratio in pairs.over(values[0]).items():
        who = heads[id_]["stack"] if field == "variant" else heads[id_]["who"]
        found[names[asked[id_]], who][value] = ratio
    return found


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
    """{case: (second over first, outcomes)} of the cases of two sets, the machine's drift, in what the sets differ, and
    what is said of further differences."""

    cases: dict[str, tuple[Ratio | None, str, str]]
    drift: float | None
    unlike: list[str]
    also: set[str]
    named: set[str]  # the packages and facts of which `also` would say if they differ

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
    """Compares the cases that two sets share."""
    cells = [
        {of.rows[0]["case"]: (truth.ids[on], who, of) for on, cells in truth.cells.items() for who, of in cells.items()}
        for truth in (first, second)
    ]
    both, sets = [case for case in cells[0] if case in cells[1]], (first, second)
    values = [
        {name: {row.get(name) for case in both for row in of[case][2].rows} - {None} for name in LIKE} for of in cells
    ]
    one, other = values
    unlike = [words for name, words in LIKE.items() if one[name] and other[name] and one[name] != other[name]]
    ceilings = [truth.file("ceilings.json").get("readings", [{}])[0].get("flops_per_second") for truth in sets]
    drift = max(ceilings[0] / ceilings[1], ceilings[1] / ceilings[0]) if all(ceilings) else None
    logs: dict[str, list[list[float]]] = {}
    for case in both:
        sides = [truth.pairs.sides.get(of[case][:2]) for truth, of in zip(sets, cells, strict=True)]
        if all(sides):
            logs[case] = [[*map(math.log, seconds(side))] for side in sides if side]
    known = moderated({case: welch(first, *of) for case, of in logs.items() if min(map(len, of)) > 1})
    ends, found = ended_at_1(known, first.pairs.doubt), {}
    tie, machine = first.protocol["tie_ratio"], Ratio(1.0, 1 / drift, drift) if drift else None
    for case in both:
        ratio = None
        if case in logs:
            value, (low, high) = math.exp(fmean(logs[case][0]) - fmean(logs[case][1])), ends.get(case, (None, None))
            floors = [truth.pairs.twins().get(of[case][:2]) for truth, of in zip(sets, cells, strict=True)]
            words = {judged(value, low, high, tie, limit, None)[0] for limit in (*floors, machine)}
            ratio = Ratio(value, low, high, "" if unlike else "undecided" if len(words) > 1 else words.pop())
        found[case] = ratio, cells[0][case][2].outcome, cells[1][case][2].outcome
    of_sets = [
        {
            (case, name): value
            for case in both
            for row in of[case][2].rows
            for name, value in further(truth, row).items()
        }
        for truth, of in zip(sets, cells, strict=True)
    ]
    moved = {
        f"{name} {value} → {of_sets[1][case, name]}"
        for (case, name), value in of_sets[0].items()
        if of_sets[1].get((case, name), value) != value
    }
    return Changes(found, drift, unlike, moved, {name for of in of_sets for _, name in of})


def further(truth: Truth, row: Line) -> dict[str, str]:
    """Returns versions of packages, facts of the machine and constants of the protocol, by their names in a
    sentence."""
    machine = truth.file("machine.json")
    facts = (
        {words: machine.get(name) for name, words in SAID.items()} if row["machine_id"] == machine["machine_id"] else {}
    )
    protocol = {f"protocol's {name.replace('_', ' ')}": value for name, value in truth.protocol.items()}
    known = json.loads(row["versions"] or "{}") | facts | protocol
    return {name: str(value) for name, value in known.items() if value is not None}


def welch(truth: Truth, one: list[float], other: list[float]) -> Mean:
    parts = [float(np.var(logs, ddof=1)) / len(logs) for logs in (one, other)]
    freedoms = [truth.pairs.mean(dict(enumerate(logs))).freedom for logs in (one, other)]
    below = sum(part**2 / freedom for part, freedom in zip(parts, freedoms, strict=True))
    freedom = max(1, math.floor(sum(parts) ** 2 / below)) if below else sum(freedoms)
    return Mean(fmean(one) - fmean(other), math.sqrt(sum(parts)), freedom, int(freedom) + 1)
