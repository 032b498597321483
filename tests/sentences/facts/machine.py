"""Readings of noise, what follows from them, and what is likely of the processor."""

from __future__ import annotations

import json
from typing import Any

from tests.sentences.facts.reader import INVALID, Truth
from tests.sentences.facts.rows import key_of


def readings(truth: Truth) -> dict[str, tuple[bool, Any]]:
    """Returns {cause: (whether its limit is exceeded, what was found)} of each reading that the set has."""
    found: dict[str, tuple[bool, Any]] = {}
    if truth.blocks:
        noisy = [block for block in truth.blocks if block["reasons"]]
        found["noisy blocks"] = bool(noisy), (len(noisy), len(truth.blocks))
    if widths := [ratio.reach for ratio in truth.over_own.values() if ratio.reach]:
        found["wide intervals"] = min(widths) > truth.protocol["tie_ratio"], min(widths) - 1
    floors = {on: twin.reach for on in truth.cells if (twin := truth.twin_of(on)) and twin.reach}
    if floors:
        wide = [on for on, width in floors.items() if width > 1.1]
        found["a wide noise floor"] = bool(wide), (len(wide), len(floors), frozenset(wide))
    told = truth.file("ceilings.json").get("readings", [])
    sure = [reading for reading in told if not reading.get("in_doubt")]
    if shares := [reading["cores_had"] for reading in sure if "cores_had" in reading]:
        found["other programs"] = min(shares) < 0.9, min(shares)
    alone = [reading["flops_per_second"] for reading in sure if reading.get("cores_had", 1.0) >= 0.9]
    if len(alone) > 1:
        change = max((later / alone[0] - 1 for later in alone[1:]), key=abs)
        found["a change of the machine's speed"] = abs(change) > 0.1, change
    return found


def weak(truth: Truth) -> dict[str, bool]:
    doubtful = any(twin.p <= truth.pairs.doubt for twin in truth.pairs.twins().values())
    return {
        "an unfinished run": any(row["outcome"] == "not run" for row in truth.rows),
        "a stack that differs from itself": doubtful,
        "one block": len({row["block"] for row in truth.timed if row.get("provenance")}) == 1,
        "unpinned environments": any("unpinned" in row["flags"] for row in truth.rows),
    }


def badge(truth: Truth) -> tuple[str, frozenset[str]]:
    """Returns the badge's word and its causes: any reading over its limit makes a set restless."""
    causes = frozenset(cause for cause, has in weak(truth).items() if has)
    over = frozenset(cause for cause, (is_over, _) in readings(truth).items() if is_over)
    return ("weak", causes) if causes else ("restless", over) if over else ("quiet", frozenset())


def invalid(truth: Truth) -> dict[str, dict[str, frozenset[str]]]:
    """Returns {outcome: {question: stacks}} of the stacks whose times don't count whatever they took."""
    found: dict[str, dict[str, frozenset[str]]] = {}
    for outcome in INVALID:
        for on, cells in truth.cells.items():
            if who := frozenset(who for who, cell in cells.items() if cell.outcome == outcome):
                found.setdefault(outcome, {})[on] = who
    return found


def mkl(truth: Truth) -> tuple[frozenset[str], bool]:
    """Returns the stacks of the first question on which MKL takes its default path, and whether the set tests it."""
    vendor = truth.file("machine.json").get("cpu_vendor")
    paths = {}
    for row in truth.rows:
        if row["purpose"] == "explain" and row.get("kernels"):
            used = json.loads(row["kernels"])
            all_ = sum(each["seconds"] or 0.0 for each in used)
            kept = [each for each in used if each["seconds"] is None or each["seconds"] >= 0.05 * all_]
            paths[row["case"]] = any((k["library"], k["isa"]) == ("MKL", "default path") for k in kept)
    for cells in truth.cells.values():
        slowed = frozenset(who for who in cells if cells[who].used and paths.get(cells[who].rows[0]["case"]))
        if slowed and vendor not in (None, "", "GenuineIntel"):
            head = next(iter(cells.values())).rows[0]
            tuned = key_of(head | {"track": "tuned"}, ("stack", "variant", "implementation"))
            name = next((name for name, asked in truth.ids.items() if asked == tuned), "")
            return slowed, vendor == "AuthenticAMD" and not (name and slowed & {*truth.counting(name)})
    return frozenset(), False
