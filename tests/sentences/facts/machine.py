"""Readings of noise and what follows from them; and whose matrix products MKL runs on its default path, and what
sets in which it took its path for Intel's processors say."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import polars as pl

from tests.sentences.facts.reader import ARCHIVE, INVALID, Truth, archived
from tests.sentences.facts.rows import FIELDS, WHO, Line, key_of, stack_of

KNOB = "mkl_serv_intel_cpu_true"  # a function of MKL, which the tuned track replaces
LEAST = 16  # operations a byte: a question's file with fewer says nothing of products
COLUMNS = (*FIELDS, "purpose", "outcome", "kernels", "environment_facts", "versions")
Build = tuple[str, str]  # versions, stack
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
    widths = [ratio.reach for ratio in truth.over_own.values() if ratio.reach]
    if widths and not truth.pairs.looks:  # a run until decided ends as soon as wide intervals are enough
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
    return found | {("stand-in", on) for on in truth.cells if truth.base(on) != truth.own(on)}


@dataclass(frozen=True)
class Slowed:
    """The stacks of the first question that has some; `limited`: its file says nothing of products, which were recorded
    elsewhere."""

    stacks: tuple[str, ...] = ()
    tuned: str = ""  # key of the question on the tuned track
    limited: bool = False
    is_amd: bool = False


def build_of(row: Line) -> Build:
    versions = json.loads(row["versions"] or "{}")
    versions.pop("python", None)
    return json.dumps(versions, sort_keys=True), stack_of(row).partition(":")[0]


def processor(folder: Path) -> list[Any]:
    machine = json.loads((folder / "machine.json").read_text())
    return [machine.get(fact) for fact in ("cpu_model", "cpu_family_model_stepping", "cores_usable")]


def on_default_path(row: Line) -> bool:
    used = json.loads(row["kernels"])
    whole = sum(each["seconds"] or 0.0 for each in used)
    kept = [each for each in used if each["seconds"] is None or each["seconds"] >= 0.05 * whole]
    return any((each["library"], each["isa"]) == ("MKL", "default path") for each in kept)


def recorded(rows: Iterable[Line]) -> dict[Build, bool]:
    """Returns {build: whether any of its processes that were explained was on the default path}."""
    found: dict[Build, bool] = {}
    for row in rows:
        if row["purpose"] == "explain" and row.get("kernels"):
            found[build_of(row)] = found.get(build_of(row), False) or on_default_path(row)
    return found


@cache
def archive() -> list[tuple[Path, list[Line]]]:
    """Returns every set of the archive with what its rows say of builds."""
    folders = sorted(path.parent for path in ARCHIVE.glob("*/plan.json"))
    return [(of, pl.read_parquet(of / "results.parquet", columns=[*COLUMNS]).to_dicts()) for of in folders]


def has_other_path(row: Line) -> bool:
    tuned = json.loads(row.get("environment_facts") or "{}").get("tuned") or ()
    return row["purpose"] == "timed" and row["outcome"] == "ok" and KNOB in tuned


def slowed(truth: Truth) -> Slowed:
    vendor = truth.file("machine.json").get("cpu_vendor")
    if vendor in (None, "", "GenuineIntel"):
        return Slowed()
    own = {
        row["case"]: on_default_path(row) for row in truth.rows if row["purpose"] == "explain" and row.get("kernels")
    }
    known = recorded(truth.rows)
    for folder, rows in archive():
        if processor(folder) == processor(truth.folder):
            known = {build: True for build, on_default in recorded(rows).items() if on_default} | known
    for cells in truth.cells.values():
        timed = {who: cell.used[0] for who, cell in cells.items() if cell.used and cell.ok}
        multiplies = any(map(has_products, timed.values()))
        here = [who for who, row in timed.items() if own.get(row["case"])]
        free = [row for row in timed.values() if row["case"] not in own and not has_other_path(row) and multiplies]
        elsewhere = [build_of(row)[1] for row in free if known.get(build_of(row))]
        if here or elsewhere:
            head = next(iter(cells.values())).rows[0]
            asked = any(":" in who for who in cells)
            stacks = tuple(dict.fromkeys([*here, *elsewhere]))
            return Slowed(
                stacks, key_of(head | {"track": "tuned"}, WHO), asked and bool(elsewhere), vendor == "AuthenticAMD"
            )
    return Slowed()


def has_products(row: Line) -> bool:
    flops, moved = (row.get(column) or 0.0 for column in ("flops", "bytes_floor"))
    return flops > 0 and (not row["implementation"] or flops >= LEAST * moved)


def measured(truth: Truth, found: Slowed) -> dict[str, tuple[Truth, list[str], str]]:
    """Returns {`this set` or `set 0123…`: (the set, its stacks with MKL's other path, the question)} of the sets, of
    this processor and versions, that answer what MKL's path has to do with the ranking."""
    ours, known = {build_of(row) for row in truth.timed if row.get("versions")}, {}
    if own := other_path(truth, found, ours):
        return {"this set": own}
    for folder, rows in archive():
        has_some = any(build_of(row) in ours for row in rows if has_other_path(row))
        if has_some and processor(folder) == processor(truth.folder):
            known[f"set {folder.name.rpartition('.')[2][:12]}"] = other_path(archived(folder.name), found, ours)
    return {name: answer for name, answer in known.items() if answer}


def other_path(truth: Truth, found: Slowed, builds: set[Build]) -> tuple[Truth, list[str], str] | None:
    """Returns how a set answers the question on the tuned track; None if it doesn't."""
    on = next((name for name, asked in truth.ids.items() if asked == found.tuned), "")
    cells = truth.cells.get(on, {})
    stacks = [
        who for who, cell in cells.items() if any(has_other_path(row) and build_of(row) in builds for row in cell.used)
    ]
    stacks = [who for who in stacks if who in found.stacks and len(truth.counting(on)) > 1]
    return (truth, stacks, on) if stacks else None
