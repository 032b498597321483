"""Readings of noise, and what follows from them."""

from __future__ import annotations

from typing import Any

from tests.sentences.facts.reader import INVALID, Truth

OTHERS_SHARE = "Share of its cores' time that the f32 ceiling's measurement got"
DOUBT = "a stack that differs from itself"
# The processors' times that these sets' readings rest on are booked at ticks too coarse for what was timed: no share of
# the cores' time counts, for whatever asks.
WITHDRAWN = dict.fromkeys(
    ("20261128-235901-quick-cpu-1f25", "20261128-204738-quick-cpu-403b"),
    "Linux books threads' time at ticks up to 10 ms apart, too coarse for one product of 7 ms",
)


def withdrawn(truth: Truth) -> str:
    return WITHDRAWN.get(truth.plan["set_id"], "")


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
    if shares := [reading["cores_had"] for reading in sure if "cores_had" in reading and not withdrawn(truth)]:
        found["other programs"] = min(shares) < 0.9, min(shares)
    alone = [
        reading["flops_per_second"] for reading in sure if withdrawn(truth) or reading.get("cores_had", 1.0) >= 0.9
    ]
    if len(alone) > 1:
        change = max((later / alone[0] - 1 for later in alone[1:]), key=abs)
        found["a change of the machine's speed"] = abs(change) > 0.1, change
    return found


def weak(truth: Truth) -> dict[str, bool]:
    doubtful = any(twin.p <= truth.pairs.doubt for twin in truth.pairs.twins().values())
    return {
        "an unfinished run": any(row["outcome"] == "not run" for row in truth.rows),
        DOUBT: doubtful,
        "one block": len({row["block"] for row in truth.timed if row.get("provenance")}) == 1,
        "unpinned environments": any("unpinned" in row["flags"] for row in truth.rows),
    }


def over_limits(truth: Truth) -> set[str]:
    return {cause for cause, (is_over, _) in readings(truth).items() if is_over}


def badge(truth: Truth) -> tuple[str, frozenset[str]]:
    """Returns the badge's word and its causes: any reading over its limit makes a set restless."""
    causes = frozenset(cause for cause, has in weak(truth).items() if has)
    over = frozenset(over_limits(truth))
    return ("weak", causes) if causes else ("restless", over) if over else ("quiet", frozenset())


def invalid(truth: Truth) -> dict[str, dict[str, frozenset[str]]]:
    """Returns {outcome: {question: stacks}} of the stacks whose times don't count whatever they took."""
    found: dict[str, dict[str, frozenset[str]]] = {}
    for outcome in INVALID:
        for on, cells in truth.cells.items():
            if who := frozenset(who for who, cell in cells.items() if cell.outcome == outcome):
                found.setdefault(outcome, {})[on] = who
    return found


def noticed(truth: Truth) -> set[tuple[str, str]]:
    """Returns (what, question) of every notice that the rows ask for."""
    of_set = over_limits(truth) | {cause for cause, has in weak(truth).items() if has}
    doubted = [on for on in truth.cells if (twin := truth.twin_of(on)) and twin.p <= truth.pairs.doubt]
    found = {(cause, "") for cause in of_set - {DOUBT}} | {(DOUBT, on) for on in doubted}
    found |= {(outcome, on) for outcome, of in invalid(truth).items() for on in of}
    return found | {("stand-in", on) for on in truth.cells if truth.base(on) != truth.baseline}
