"""Estimates how long each shard of a plan takes. A process takes as long as such processes took in earlier sets; if
there were none, its time is a rough estimate from the plan."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from suite.case import Attempt, Outcome
from suite.plan.durations import attempt_seconds
from suite.plan.layout import runnable
from suite.plan.shards import Shard, share
from suite.sets.plan import Plan
from suite.sets.rows import CASE, Row
from suite.workloads.catalog import Workload

# A process is estimated from earlier processes of the same kind, on any machine of the target.
Kind = tuple[str, str, str, str, str]  # workload, size, pass, stack, purpose
PLACE = ("schema_version", "set_id", "block", "retry", "position", "replicate", "machine_id", "started_at", "purpose")
ENDED = ("outcome", "case_id", "case_name", "comparison_id", "inferred_from", "flags")
COLUMNS = frozenset((*PLACE, *ENDED, *CASE))  # that an estimate needs


@dataclass(frozen=True, slots=True)
class ShardEstimate:
    """The estimate for one shard. `seconds` is for the planned blocks; `most_seconds` includes all blocks that a run
    adds if intervals are too wide. Of its `processes`, `known` are estimated from earlier sets."""

    number: int
    comparisons: int
    processes: int
    known: int
    seconds: float
    most_seconds: float


def wall_seconds(rows: Iterable[Row]) -> dict[Kind, float]:
    """Returns {kind: median seconds from the start of a process to the start of the next one in its block}. That time
    includes starting, compiling, measuring and the harness's own work."""
    blocks: dict[tuple[str, int, int], list[Row]] = defaultdict(list)
    for row in rows:
        if row["started_at"] and row["block"] and row["outcome"] != Outcome.UNSUPPORTED:
            blocks[row["set_id"], row["block"], row["retry"]].append(row)
    times: dict[Kind, list[float]] = defaultdict(list)
    for block in blocks.values():
        for row, after in pairwise(sorted(block, key=lambda row: row["position"])):
            if after["position"] == row["position"] + 1:  # else a process is missing between them
                times[kind_of_row(row)].append((after["started_at"] - row["started_at"]).total_seconds())
    return {kind: median(seconds) for kind, seconds in times.items() if median(seconds) > 0}


def kind_of_row(row: Row) -> Kind:
    return row.text("workload"), row.text("size"), row.text("pass"), row.stack_name, row.text("purpose")


def kind_of(attempt: Attempt) -> Kind:
    case = attempt.case
    return case.workload, case.size, case.pass_, case.stack_name, str(attempt.purpose)


def shards_of(
    plan: Plan, shards: int, workloads: Mapping[str, Workload], known: Mapping[Kind, float]
) -> list[ShardEstimate]:
    return [of_part(number, share(plan, Shard(number, shards)), workloads, known) for number in range(1, shards + 1)]


def of_part(number: int, part: Plan, workloads: Mapping[str, Workload], known: Mapping[Kind, float]) -> ShardEstimate:
    attempts = runnable(part)
    known_seconds = [known.get(kind_of(attempt)) for attempt in attempts]
    taken = [
        attempt_seconds(attempt, workloads, part.protocol) if wall is None else wall
        for attempt, wall in zip(attempts, known_seconds, strict=True)
    ]
    timed = sum(wall for attempt, wall in zip(attempts, taken, strict=True) if attempt.block)
    protocol = part.protocol
    further = timed * (protocol.blocks_max - protocol.blocks) / protocol.blocks if timed else 0.0
    return ShardEstimate(
        number=number,
        comparisons=len({planned.case.comparison_id for planned in part.cases}),
        processes=len(attempts),
        known=sum(wall is not None for wall in known_seconds),
        seconds=sum(taken),
        most_seconds=sum(taken) + further,
    )


def longest(shards: Sequence[ShardEstimate]) -> float:
    return max(shard.most_seconds for shard in shards)
