"""Computes from a finished set how much time the harness adds to each case.

Required: at most 0.5 s a case. A case lasts from the start of its process to the start of the next process in the same
block. The phases import, device, build, place, probe and gate, the first two calls and every sample belong to the case
itself. The rest is the harness: the supervisor, the interpreter's start and end, the loop between samples, reading
counters and memory, writing the row. benchmarks/README.md shows the command.
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
from suite.sets.parquet import read_rows

PREPARATION = ("import", "device", "build", "place")


@dataclass(frozen=True, slots=True)
class HarnessCost:
    """The seconds that the harness added to one case, in three parts."""

    name: str
    around: float  # while the process didn't exist: supervisor, row, console
    python: float  # from the process's start to its first event, and from its last event to its end
    inside: float  # between its events, but neither preparation nor measurement

    @property
    def total(self) -> float:
        """Returns the seconds of all three parts."""
        return self.around + self.python + self.inside


def case_seconds(events: list[dict[str, Any]]) -> float:
    """Returns the seconds of the case itself: its preparation, its first two calls, its samples, its probe and gate."""
    columns: dict[str, Any] = {}
    seconds, began, phase = 0.0, 0, ""
    for event in events:
        if event["event"] == "phase":
            seconds += (event["t_ns"] - began) / 1e9 if phase in ("probe", "gate") else 0.0
            phase, began = event["phase"], event["t_ns"]
        elif event["event"] == "facts":
            columns |= event["columns"]
            if phase in PREPARATION and f"{phase}_seconds" in event["columns"]:  # written at the end of the phase
                seconds += (event["t_ns"] - began) / 1e9
        elif event["event"] == "samples":
            calls = columns["pipelined_calls"] if event["clock"] == "pipelined" else 1
            seconds += sum(event[f"{event['clock']}_seconds"]) * calls
    return seconds + columns["first_seconds"] + columns["second_seconds"]


def costs(folder: Path) -> tuple[list[HarnessCost], int]:
    """Returns (costs of all cases that another case follows in the same block, number of rows left out)."""
    rows = read_rows(folder / "results.parquet")
    rows.sort(key=lambda row: (row["block"], row["retry"], row["position"]))
    cases: list[HarnessCost] = []
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
        cases.append(HarnessCost(log.name, whole - alive, alive - span, span - case_seconds(events)))
    return cases, len(rows) - len(cases)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("set", type=Path, help="a result set that one run finished without --resume")
    folder = parser.parse_args().set
    cases, left_out = costs(folder)
    if not cases:
        raise SystemExit(f"{folder} has no two neighbouring cases that ended ok.")
    print(f"{len(cases)} cases of {folder.name}; {left_out} rows are left out, as benchmarks/README.md explains")
    for part in ("around", "python", "inside", "total"):
        seconds = [getattr(cost, part) for cost in cases]
        print(f"{part:7} median {median(seconds):.3f} s, max {max(seconds):.3f} s")
    worst = max(cases, key=lambda cost: cost.total)
    print(f"worst: {worst.name}, {worst.total:.3f} s, of which {worst.inside:.3f} s inside")


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        raise SystemExit(str(error)) from None
