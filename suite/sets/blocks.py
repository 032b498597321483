"""Records of complete blocks, and what they add to rows: the noise around the processes, and whether the block
counts."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct, to_builtins

from suite.case import OUTSIDE_BLOCKS, Flag, Outcome
from suite.sets.rows import Row

Runs = dict[tuple[int, int], "Block"]  # by (block, retry)


class Block(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One complete run of a block, as its file has it: the run and `machine.noise` write it. There is a canary before
    and one after the block. `shard` names the share that the block comes from, in a set that was put together from
    shares; `unverified` has the case_ids whose results nothing verified, `left` those of the cases that earlier
    blocks had decided, so that this one has none of their processes."""

    block: int
    retry: Annotated[int, Meta(ge=1)]
    verdict: str
    reasons: list[str]
    canary_seconds: Annotated[list[float], Meta(min_length=2, max_length=2)]
    steal_share: float
    shard: str = ""
    started_at: str = ""
    ended_at: str = ""
    throttled: int | None = None
    load_before: float | None = None
    load_after: float | None = None
    mhz_before: float | None = None
    mhz_after: float | None = None
    unverified: list[str] = []
    left: list[str] = []

    @property
    def accepted(self) -> bool:
        """Whether the block counts: False for one that was run again because of noise."""
        return self.verdict == "accepted"

    @property
    def seconds(self) -> float:
        """How long the block took; 0 if its record doesn't say when it began and ended."""
        if not (self.started_at and self.ended_at):
            return 0.0
        began, ended = map(datetime.datetime.fromisoformat, (self.started_at, self.ended_at))
        return (ended - began).total_seconds()

    @property
    def record(self) -> dict[str, Any]:
        fields: dict[str, Any] = to_builtins(self)
        return fields


def with_noise(rows: Iterable[Row], blocks: Sequence[Block]) -> list[Row]:
    """Returns the rows with the canaries, steal shares and flags of their blocks."""
    runs = {(block.block, block.retry): block for block in blocks}
    return [row if row["purpose"] in OUTSIDE_BLOCKS else of_block(row, runs) for row in rows]


def of_block(row: Row, runs: Runs) -> Row:
    """Returns one row with the columns and flags of its block's record; a block without a record was cut short."""
    block = runs.get((row["block"], row["retry"])) or earlier_block(runs, row)
    if block is None:
        return row | {"flags": flags(row, Flag.INCOMPLETE_BLOCK)}
    added = []
    if block.reasons and row["outcome"] != Outcome.UNSUPPORTED:  # where no process ran, none was disturbed
        added.append(Flag.NOISY)
    if row["case_id"] in block.unverified and row["outcome"] == Outcome.OK:
        added.append(Flag.UNVERIFIED)
    if not block.accepted:
        added.append(Flag.REJECTED_BLOCK)
    noise = {"canary_seconds": block.canary_seconds, "steal_share": block.steal_share}
    return row | noise | {"flags": flags(row, *added)}


def flags(row: Row, *added: Flag) -> list[str]:
    return list(dict.fromkeys([*row["flags"], *map(str, added)]))


def earlier_block(runs: Runs, row: Row) -> Block | None:
    """Returns the accepted block of a process that was later run again by itself, which leaves no block record."""
    earlier = (run for (block, retry), run in runs.items() if block == row["block"] and retry < row["retry"])
    return next((run for run in earlier if run.accepted), None)
