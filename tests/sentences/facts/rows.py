"""Which rows of a set count, and their names: written again from docs/why, without the product's code."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from statistics import median
from typing import Any, TypeVar, cast

import polars as pl

Line = dict[str, Any]
Method = TypeVar("Method", bound=Callable[..., Any])
PLACE = ("case", "block", "replicate", "purpose")  # all attempts at one planned process share it
FIELDS = ("workload", "size", "dims", "pass", "precision", "track", "stack", "variant", "implementation", "target",
          "device", "cache", "threads", "limit_memory_bytes", "allocator")  # fmt: skip
WHO = ("stack", "variant", "implementation")  # what may differ inside one question
SPOILED = ("implausible", "differ", "wrong")  # one such process spoils its case; the last one found stands
GRAVEST_FIRST = ("wrong", "differ", "implausible", "crashed", "error", "oom_device", "oom_host", "oom_compile",
                 "timeout", "unsupported", "not run", "ok")  # fmt: skip
# What a question's name has besides workload and pass, where the set has several values.
DETAILS = {"size": "{}", "precision": "{}", "target": "{}", "device": "{}", "track": "{} track", "cache": "{} cache",
           "threads": "on {}", "limit_memory_bytes": "limit {}", "allocator": "{} allocator"}  # fmt: skip
OWN_MIXED = "bf16 (each framework's own mixed precision)"
OTHERS_MOST = 0.05  # of the cores' time that other programs may take in a sample's batch (suite/protocol.py)


def once(method: Method) -> Method:
    """Returns a method that keeps what it returned in its object's `shared`."""

    @wraps(method)
    def kept(self: Any, *args: Any) -> Any:
        key = method.__name__, *args
        if key not in self.shared:
            self.shared[key] = method(self, *args)
        return self.shared[key]

    return cast(Method, kept)


def key_of(case: Line, without: tuple[str, ...] = ()) -> str:
    """Returns a key of a case's fields: a row has its dims as text, a plan as an object."""
    values = {name: case[name] for name in FIELDS if name not in without}
    if isinstance(values.get("dims"), str):
        values["dims"] = json.loads(values["dims"])
    return json.dumps(values, sort_keys=True)


def grown(row: Line) -> str:
    return key_of(row, (*WHO, "dims", "size"))


def stack_of(row: Line) -> str:
    variant, name = row["variant"], row["implementation"]
    return str(row["stack"]) + f"@{variant}" * bool(variant) + f":{name}" * bool(name)


def attempts(folder: Path) -> list[Line]:
    """Returns every attempt of a set, with the keys of its case and of its question."""
    return [row | keys(row) for row in pl.read_parquet(folder / "results.parquet").to_dicts()]


def keys(row: Line) -> Line:
    return {"case": key_of(row), "asked": key_of(row, WHO), "who": stack_of(row)}


def place(row: Line) -> tuple[Any, ...]:
    return tuple(row[name] for name in PLACE)


def counted(rows: list[Line], plan: Line) -> list[Line]:
    """Returns one row for each planned process: its last attempt in a complete block, an accepted one before a rejected
    one. A case that is wrong somewhere is wrong everywhere; a process that never ran has a row that says so."""
    last: dict[tuple[Any, ...], Line] = {}
    for row in sorted(rows, key=lambda row: ("rejected_block" not in row["flags"], row["retry"])):
        last |= {} if "incomplete_block" in row["flags"] else {place(row): row}
    found = [row for row in rows if last.get(place(row)) is row]
    spoiled: dict[str, Line] = {}
    for word in SPOILED:
        of_word = (row for row in found if row["outcome"] == word or (word in row["flags"] and word == SPOILED[0]))
        spoiled |= {row["case"]: {"outcome": word, "reason": row["reason"]} for row in of_word}
    found = [row | spoiled.get(row["case"], {}) if row["outcome"] == "ok" else row for row in found]
    return found + unrun(found, plan)


def unrun(found: list[Line], plan: Line) -> list[Line]:
    reasons = {key_of(case): case["unsupported"] for case in [*plan["cases"], *plan["predictions"]]}
    ran, missing = {place(row) for row in found}, dict[tuple[Any, ...], Line]()
    for attempt in plan["attempts"]:
        row = attempt | attempt["case"] | keys(attempt["case"]) | {"flags": []}
        reason = reasons.get(row["case"])
        row |= {"outcome": "unsupported" if reason else "not run", "reason": reason, "dims": json.dumps(row["dims"])}
        if place(row) not in ran:
            missing.setdefault(place(row), row)
    return [*missing.values()]


def question_names(heads: dict[str, Line], without: str = "") -> dict[str, str]:
    """Returns {question: name}: workload, pass, and the details that vary over the set."""
    lines = [*heads.values()]
    always = {"precision"} if any(head["precision"] == "bf16" for head in lines) else set()
    varying = [name for name in DETAILS if name in always or len({head[name] for head in lines}) > 1]
    first, rest = ([name for name in names if name != without] for names in (("workload", "pass"), varying))
    named = {
        key: " ".join([*(head[name] for name in first), *(detail(head, name) for name in rest)])
        for key, head in heads.items()
    }
    dims = {key: json.loads(head["dims"]).items() for key, head in heads.items()}
    sized = {key: f"{named[key]} ({', '.join(f'{dim} = {size:,}' for dim, size in dims[key])})" for key in heads}
    return {key: name if [*named.values()].count(name) == 1 else sized[key] for key, name in named.items()}


def detail(head: Line, name: str) -> str:
    value = head[name]
    if name == "threads":
        value = f"{value} core{'s' * (value != 1)}"
    if name == "limit_memory_bytes" and value:
        power, unit = next((power, unit) for power, unit in ((30, "GiB"), (20, "MiB"), (0, "B")) if value >= 2**power)
        value = f"{value / 2**power:.3g} {unit}"
    return DETAILS[name].format(OWN_MIXED if value == "bf16" else value)


def gravest(rows: list[Line]) -> str:
    return min((str(row["outcome"]) for row in rows), key=GRAVEST_FIRST.index)


def steady(row: Line, clock: str = "synced") -> list[float]:
    """Returns a process's samples that count: steady ones, in a turn, undisturbed by other programs."""
    kept: dict[str, list[float]] = row.setdefault("kept", {})
    if clock not in kept:
        seconds, chained = row.get(f"{clock}_seconds"), clock in ("synced", "dispatch")
        several = isinstance(seconds, list)
        samples = samples_of(row, clock, (row.get("synced_warmup") or 0) * chained) if several else []
        kept[clock] = [time for _, time in samples] if several else [] if seconds is None else [seconds]
    return kept[clock]


def samples_of(row: Line, clock: str, start: int = 0) -> list[tuple[int, float]]:
    """Returns (round, seconds) of the samples that count; all of them are of round 1 without rounds."""
    seconds, chained = row[f"{clock}_seconds"], clock in ("synced", "dispatch")
    others = row.get(f"{'synced' if chained else clock}_others") or [0.0] * len(seconds)
    rounds = (row.get("synced_rounds") if chained else None) or [1] * len(seconds)
    samples = [each for each in [*zip(rounds, seconds, others, strict=True)][start:] if each[0] > 0]
    clean = [each for each in samples if (each[2] or 0.0) <= OTHERS_MOST]
    return [each[:2] for each in clean or samples]


def turns(row: Line) -> dict[tuple[int, int], float]:
    """Returns {(retry, round): median of the turn}; empty for a process that was sampled alone."""
    kept: dict[str, dict[tuple[int, int], float]] = row.setdefault("kept", {})
    if row["synced_rounds"] and "turns" not in kept:
        by_round = defaultdict[int, list[float]](list)
        for number, seconds in samples_of(row, "synced"):
            by_round[number].append(seconds)
        kept["turns"] = {(row["retry"], number): median(of) for number, of in by_round.items()}
    return kept["turns"] if row["synced_rounds"] else {}
