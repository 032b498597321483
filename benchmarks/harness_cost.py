"""Reads from a finished set what a case costs beyond its process's imports, preparation and measurement.

Required: at most 0.5 s a case. A case lasts from its process's start to the next one's in the same block.
The phases import, device, build, place, probe and gate, the first two calls and every sample belong to the
case. The rest is the harness: the supervisor, the interpreter's start and end, the loop between samples,
reading counters and memory, writing the row. See benchmarks/README.md.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

from suite.errors import UserError
from suite.results.store.parquet.reader import read_parquet

PREPARATION = ("import", "device", "build", "place")


@dataclass(frozen=True, slots=True)
class Cost:
    """The seconds that the harness took for one case, in three parts."""

    name: str
    around: float  # supervisor, row and console, while the process didn't exist
    python: float  # from the process's start to its first event, and from its last event to its end
    inside: float  # between its events, neither preparation nor measurement

    @property
    def total(self) -> float:
        """Returns the seconds of all three parts."""
        return self.around + self.python + self.inside


def own_seconds(events: list[dict[str, Any]]) -> float:
    """Returns the seconds of the case itself: its preparation, its first two calls, its samples and its gate."""
    columns: dict[str, Any] = {}
    own, began, phase = 0.0, 0, ""
    for event in events:
        if event["event"] == "phase":
            own += (event["t_ns"] - began) / 1e9 if phase in ("probe", "gate") else 0.0
            phase, began = event["phase"], event["t_ns"]
        elif event["event"] == "facts":
            columns |= event["columns"]
            if phase in PREPARATION and f"{phase}_seconds" in event["columns"]:  # written when it is done
                own += (event["t_ns"] - began) / 1e9
        elif event["event"] == "samples":
            calls = columns["pipelined_calls"] if event["clock"] == "pipelined" else 1
            own += sum(event[f"{event['clock']}_seconds"]) * calls
    return own + columns["first_seconds"] + columns["second_seconds"]


def costs(folder: Path) -> tuple[list[Cost], int]:
    """Returns (costs of the cases that another one follows in the same block, number of rows left out)."""
    rows = read_parquet(folder / "results.parquet")
    rows.sort(key=lambda row: (row["block"], row["retry"], row["order"]))
    found: list[Cost] = []
    warmed: set[str] = set()
    for row, following in pairwise(rows):
        warmed.add(row["lock_sha256"])
        log = folder / "logs" / row.attempt_name
        together = (row["block"], row["retry"]) == (following["block"], following["retry"])
        # Before an environment's first process the session imports its framework once, without measuring it.
        if not together or following["lock_sha256"] not in warmed or row["outcome"] != "ok" or not log.is_dir():
            continue
        events = [json.loads(line) for line in (log / "events.jsonl").read_text(encoding="utf-8").splitlines()]
        alive = json.loads((log / "exit.json").read_text(encoding="utf-8"))["duration_seconds"]
        span = (events[-1]["t_ns"] - events[0]["t_ns"]) / 1e9
        whole = (following["started_at"] - row["started_at"]).total_seconds()
        found.append(Cost(log.name, whole - alive, alive - span, span - own_seconds(events)))
    return found, len(rows) - len(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", type=Path, help="a result set that one run finished without --resume")
    folder = parser.parse_args().set
    found, left_out = costs(folder)
    if not found:
        raise SystemExit(f"{folder} has no two neighbouring cases that ended ok.")
    print(f"{len(found)} cases of {folder.name}; {left_out} rows have no neighbour to be timed against")
    for part in ("around", "python", "inside", "total"):
        seconds = [getattr(cost, part) for cost in found]
        print(f"{part:7} median {median(seconds):.3f} s, max {max(seconds):.3f} s")
    worst = max(found, key=lambda cost: cost.total)
    print(f"worst: {worst.name}, {worst.total:.3f} s of which {worst.inside:.3f} s inside")


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        raise SystemExit(str(error)) from None
