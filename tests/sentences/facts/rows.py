"""Which rows of a set count, and their names: written again from docs/why, without the product's code."""

from __future__ import annotations

import json
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any

import polars as pl

Line = dict[str, Any]

PLACE = ("case", "block", "replicate", "purpose")  # all attempts at one planned process share it
FIELDS = ("workload", "size", "dims", "pass", "precision", "track", "stack", "variant", "implementation", "target",
          "device", "cache", "threads", "limit_memory_bytes", "allocator")  # fmt: skip
WHO = ("stack", "variant", "implementation")  # what may differ inside one question
SPOILED = ("implausible", "differ", "wrong")  # one such process spoils its case; the last one found stands
GRAVEST_FIRST = ("wrong", "differ", "implausible", "crashed", "error", "oom_device", "oom_host", "oom_compile",
                 "timeout", "unsupported", "not run", "ok")  # fmt: skip
DETAILS = {
    "size": "{}",
    "precision": "{}",
    "target": "{}",
    "device": "{}",
    "track": "{} track",
    "cache": "{} cache",
    "threads": "on {}",
    "limit_memory_bytes": "limit {}",
    "allocator": "{} allocator",
}  # what a question's name has besides workload and pass, where the set has several values
OWN_MIXED = "bf16 (each framework's own mixed precision)"


def key_of(case: Line, without: tuple[str, ...] = ()) -> str:
    """Returns a key of a case's fields: a row has its dims as text, a plan as an object."""
    values = {name: case[name] for name in FIELDS if name not in without}
    if isinstance(values.get("dims"), str):
        values["dims"] = json.loads(values["dims"])
    return json.dumps(values, sort_keys=True)


def grown(row: Line) -> str:
    return key_of(row, (*WHO, "dims", "size"))


def stack_of(row: Line) -> str:
    return str(
        row["stack"]
        + f"@{row['variant']}" * bool(row["variant"])
        + f":{row['implementation']}" * bool(row["implementation"])
    )


def attempts(folder: Path) -> list[Line]:
    """Returns every attempt of a set, with the keys of its case and of its question."""
    rows = pl.read_parquet(folder / "results.parquet").to_dicts()
    return [row | {"case": key_of(row), "asked": key_of(row, WHO), "who": stack_of(row)} for row in rows]


def counted(rows: list[Line], plan: Line) -> list[Line]:
    """Returns one row for each planned process: its last attempt in a complete block, an accepted one before a rejected
    one. A case that is wrong somewhere is wrong everywhere; a process that never ran has a row that says so."""
    last = (
        pl.DataFrame(
            {
                "at": range(len(rows)),
                **{name: [row[name] for row in rows] for name in (*PLACE, "retry")},
                "cut": ["incomplete_block" in row["flags"] for row in rows],
                "kept": ["rejected_block" not in row["flags"] for row in rows],
            }
        )
        .filter(~pl.col("cut"))
        .sort("kept", "retry")
        .group_by(PLACE, maintain_order=True)
        .last()
        .sort("at")
    )
    found = [rows[at] for at in last["at"]]
    spoiled: dict[str, tuple[str, str | None]] = {}
    for word in SPOILED:
        of_word = (row for row in found if row["outcome"] == word or (word in row["flags"] and word == SPOILED[0]))
        spoiled |= {row["case"]: (word, row["reason"]) for row in of_word}
    found = [
        row | dict(zip(("outcome", "reason"), spoiled[row["case"]], strict=True))
        if row["outcome"] == "ok" and row["case"] in spoiled
        else row
        for row in found
    ]
    return found + unrun(found, plan)


def unrun(found: list[Line], plan: Line) -> list[Line]:
    reasons = {key_of(case): case["unsupported"] for case in [*plan["cases"], *plan["predictions"]]}
    ran = {tuple(row[name] for name in PLACE) for row in found}
    missing: dict[tuple[Any, ...], Line] = {}
    for attempt in plan["attempts"]:
        case = attempt["case"]
        row = attempt | case | {"case": key_of(case), "asked": key_of(case, WHO), "who": stack_of(case)}
        reason = reasons.get(row["case"])
        row |= {"outcome": "unsupported" if reason else "not run", "reason": reason, "flags": []}
        place = tuple(row[name] for name in PLACE)
        if place not in ran:
            missing.setdefault(place, row | {"dims": json.dumps(case["dims"])})
    return [*missing.values()]


def question_names(heads: dict[str, Line], without: str = "") -> dict[str, str]:
    """Returns {question: name}: workload, pass, and the details that vary over the set."""
    lines = [*heads.values()]
    mixed = any(head["precision"] == "bf16" for head in lines)
    varying = [
        name
        for name in DETAILS
        if name != without and (len({head[name] for head in lines}) > 1 or (name == "precision" and mixed))
    ]
    named = {
        key: " ".join(
            [head[name] for name in ("workload", "pass") if name != without] + [detail(head, n) for n in varying]
        )
        for key, head in heads.items()
    }
    sized = {
        key: f"{name} ({', '.join(f'{dim} = {size:,}' for dim, size in json.loads(heads[key]['dims']).items())})"
        for key, name in named.items()
    }
    return {key: name if [*named.values()].count(name) == 1 else sized[key] for key, name in named.items()}


def detail(head: Line, name: str) -> str:
    value = head[name]
    if name == "threads":
        value = f"{value} core{'s' * (value != 1)}"
    if name == "limit_memory_bytes" and value:
        size, unit = next(
            (2.0**power, unit) for power, unit in ((30, "GiB"), (20, "MiB"), (0, "B")) if value >= 2**power
        )
        value = f"{value / size:.3g} {unit}"
    return DETAILS[name].format(OWN_MIXED if value == "bf16" else value)


def gravest(rows: list[Line]) -> str:
    return min((str(row["outcome"]) for row in rows), key=GRAVEST_FIRST.index)


def steady(row: Line, clock: str = "synced") -> list[float]:
    """Returns a process's samples that count: steady ones, in a turn, undisturbed by other programs."""
    kept: dict[str, list[float]] = row.setdefault("kept", {})
    if clock not in kept:
        kept[clock] = samples_of(row, clock)
    return kept[clock]


def samples_of(row: Line, clock: str) -> list[float]:
    seconds = row.get(f"{clock}_seconds")
    if clock in ("first", "second") or not seconds:
        return [] if seconds is None else seconds if isinstance(seconds, list) else [seconds]
    chained = clock in ("synced", "dispatch")
    others = row.get(f"{'synced' if chained else clock}_others") or [0.0] * len(seconds)
    rounds = (row.get("synced_rounds") if chained else None) or [1] * len(seconds)
    start = row.get("synced_warmup") or 0 if chained else 0
    samples = [each for each in [*zip(seconds, others, rounds, strict=True)][start:] if each[2] > 0]
    clean = [time for time, share, _ in samples if (share or 0.0) <= OTHERS_MOST]
    return clean or [time for time, *_ in samples]


def turns(row: Line) -> dict[tuple[int, int], float]:
    """Returns {(retry, round): median of the turn}; empty for a process that was sampled alone."""
    kept: dict[str, dict[tuple[int, int], float]] = row.setdefault("kept", {})
    if not row["synced_rounds"]:
        return {}
    if "turns" not in kept:
        shares = row["synced_others"] or [0.0] * len(row["synced_rounds"])
        samples = [
            each for each in zip(row["synced_rounds"], row["synced_seconds"], shares, strict=True) if each[0] > 0
        ]
        clean, by_round = (
            [each for each in samples if (each[2] or 0.0) <= OTHERS_MOST],
            defaultdict[int, list[float]](list),
        )
        for number, seconds, _ in clean or samples:
            by_round[number].append(seconds)
        kept["turns"] = {(row["retry"], number): median(of) for number, of in by_round.items()}
    return kept["turns"]


OTHERS_MOST = 0.05  # of the cores' time that other programs may take in a sample's batch (suite/protocol.py)
