"""Computes from a finished set where its seconds went: by phase, summed over all processes, and of the wall clock.

A process is in one phase from its event to the next; an attempt's `other` seconds are those of its process before its
first event and after its last one. The wall clock's seconds are those from the first event to the last one. Each moment
of them is shared equally by the processes that don't wait; if all wait or none is alive, it belongs to `nobody`: the
session, supervisors, the console, and the interpreters' start. benchmarks/README.md shows the command.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

from suite.errors import UserError
from suite.sets.parquet import read_rows

WAITING, NOBODY, OTHER = "hold", "nobody", "other"
Span = tuple[float, float, str]  # begin and end in seconds of the machine's monotonic clock, and the phase


def spans(events: Sequence[dict[str, Any]]) -> list[Span]:
    """Returns the phases of one process, the last one until the last event."""
    begins = [(event["t_ns"] / 1e9, event["phase"]) for event in events if event["event"] == "phase"]
    last = events[-1]["t_ns"] / 1e9
    return [(begin, end, phase) for (begin, phase), (end, _) in pairwise([*begins, (last, "")])]


def of_wall_clock(all_spans: Iterable[Span]) -> Counter[str]:
    """Returns the seconds from the first span's begin to the last one's end by phase, each moment shared equally by the
    phases that don't wait."""
    changes = sorted(
        (moment, change, phase) for begin, end, phase in all_spans for moment, change in ((begin, 1), (end, -1))
    )
    active: Counter[str] = Counter()
    seconds: Counter[str] = Counter()
    for (moment, change, phase), (after, _, _) in pairwise(changes):
        active[phase] += change
        busy = {name: count for name, count in active.items() if count and name != WAITING}
        for name, count in busy.items():
            seconds[name] += (after - moment) * count / sum(busy.values())
        if not busy:
            seconds[NOBODY] += after - moment
    return seconds


def table(folder: Path) -> tuple[Counter[str], Counter[str], int, int]:
    """Returns the seconds by phase, summed over the processes and of the wall clock, and the numbers of processes and
    of rows without one."""
    summed: Counter[str] = Counter()
    all_spans: list[Span] = []
    rows = read_rows(folder / "results.parquet")
    logs = sorted({folder / "logs" / row.attempt_name for row in rows})
    read = [log for log in logs if (log / "events.jsonl").is_file()]
    for log in read:
        events = [json.loads(line) for line in (log / "events.jsonl").read_text(encoding="utf-8").splitlines()]
        alive = json.loads((log / "exit.json").read_text(encoding="utf-8"))["duration_seconds"]
        of_process = spans(events)
        all_spans += of_process
        for begin, end, phase in of_process:
            summed[phase] += end - begin
        summed[OTHER] += alive - (events[-1]["t_ns"] - events[0]["t_ns"]) / 1e9
    return summed, of_wall_clock(all_spans), len(read), len(rows) - len(read)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", type=Path, nargs="+", help="result sets with their logs, like results/latest")
    for folder in parser.parse_args().sets:
        summed, wall, processes, without = table(folder)
        if not processes:
            raise SystemExit(f"{folder} has no events: an archive's sets have no logs. Measure one here.")
        whole = sum(wall.values())
        print(f"{folder.name}: {processes} processes in {whole:.1f} s of the wall clock; {without} rows without one")
        print(f"{'phase':>10}  {'summed, s':>10}  {'wall clock, s':>13}")
        for phase in sorted({*summed, *wall}, key=lambda phase: -wall[phase]):
            print(f"{phase:>10}  {summed[phase]:10.1f}  {wall[phase]:13.1f}")


if __name__ == "__main__":
    try:
        main()
    except UserError as error:
        raise SystemExit(str(error)) from None
