"""How long each shard of a plan takes: by what its processes took in earlier sets, else by the plan's rough guess."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from statistics import median

from suite.case import Attempt, Outcome, Purpose
from suite.plan.plan import Plan, estimate
from suite.plan.shards import Shard, share
from suite.results.store.rows import CASE, Row
from suite.workloads.catalog import Workload

# Times of other sizes or passes say nothing; those of another machine of the target are all that there is.
Kind = tuple[str, str, str, str, str]  # workload, size, pass, stack, purpose
# What is read of a row; names and the case are for rows of older versions, which are read as today's are.
COLUMNS = frozenset(
    {
        "schema_version",
        "set_id",
        "block",
        "retry",
        "order",
        "started_at",
        "purpose",
        "outcome",
        "case_id",
        "case_name",
        "comparison_id",
        "inferred_from",
        "flags",
        "replicate",
        "machine_id",
        *CASE,
    }
)


@dataclass(frozen=True, slots=True)
class Expected:
    """One shard's part of a plan. `seconds` are those of the first blocks, `most_seconds` with every further one that
    the spread may ask for; `known` of its `processes` are estimated by earlier sets."""

    number: int
    comparisons: int
    processes: int
    known: int
    seconds: float
    most_seconds: float


def wall_seconds(rows: Iterable[Row]) -> dict[Kind, float]:
    """The median time from the start of a process to the start of the next in its block, which is what it costs a
    machine: start, compile, measure, and what the harness adds."""
    blocks: dict[tuple[str, int, int], list[Row]] = defaultdict(list)
    for row in rows:
        if row["started_at"] and row["block"] and row["outcome"] != Outcome.UNSUPPORTED:
            blocks[row["set_id"], row["block"], row["retry"]].append(row)
    found: dict[Kind, list[float]] = defaultdict(list)
    for block in blocks.values():
        for row, after in pairwise(sorted(block, key=lambda row: row.integer("order"))):
            if after["order"] == row["order"] + 1:  # else one is missing between them
                taken = (after["started_at"] - row["started_at"]).total_seconds()
                found[kind_of_row(row)].append(taken)
    return {kind: median(taken) for kind, taken in found.items() if median(taken) > 0}


def kind_of_row(row: Row) -> Kind:
    """What its time tells of."""
    return row.text("workload"), row.text("size"), row.text("pass"), row.stack_name, row.text("purpose")


def kind_of(attempt: Attempt) -> Kind:
    """The same of a planned process."""
    case = attempt.case
    return case.workload, case.size, case.pass_, case.stack_name, str(attempt.purpose)


def shards_of(
    plan: Plan, shards: int, workloads: Mapping[str, Workload], known: Mapping[Kind, float]
) -> list[Expected]:
    """Every shard's estimate, in order. Raises UserError where there are more shards than can be made."""
    return [of_part(number, share(plan, Shard(number, shards)), workloads, known) for number in range(1, shards + 1)]


def of_part(number: int, part: Plan, workloads: Mapping[str, Workload], known: Mapping[Kind, float]) -> Expected:
    """One shard's."""
    unsupported = {planned.case.case_id for planned in part.cases if planned.unsupported}
    attempts = [each for each in part.attempts() if each.case.case_id not in unsupported]
    told = [known.get(kind_of(attempt)) for attempt in attempts]
    taken = [
        guess(part, attempt, workloads) if wall is None else wall for attempt, wall in zip(attempts, told, strict=True)
    ]
    timed = sum(wall for attempt, wall in zip(attempts, taken, strict=True) if attempt.block)
    protocol = part.protocol
    further = timed * (protocol.blocks_max - protocol.blocks) / protocol.blocks if timed else 0.0
    return Expected(
        number,
        comparisons(part),
        len(attempts),
        sum(wall is not None for wall in told),
        sum(taken),
        sum(taken) + further,
    )


def guess(part: Plan, attempt: Attempt, workloads: Mapping[str, Workload]) -> float:
    """The plan's own estimate of one process, as on a small machine."""
    rough = 0.0 if attempt.purpose is Purpose.PRIME else 1.0  # which the timed process after it includes
    return rough * estimate(attempt.case, workloads[attempt.case.workload], part.protocol)


def comparisons(part: Plan) -> int:
    """How many there are."""
    return len({planned.case.comparison_id for planned in part.cases})


def longest(shards: Sequence[Expected]) -> float:
    """Seconds of the shard that takes longest, all blocks included."""
    return max(shard.most_seconds for shard in shards)
