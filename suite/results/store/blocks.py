"""Records of complete blocks, and what they add to rows: the noise around the processes, and whether the block
counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from suite.case import OUTSIDE_BLOCKS, Flag, Outcome
from suite.errors import Damaged
from suite.results.store.rows import Row


class RequiredKeys(TypedDict):
    """The keys that every block record has."""

    block: int
    verdict: str
    reasons: list[str]
    canary_seconds: list[float]
    steal_share: float


class Record(RequiredKeys, total=False):
    """A block's record, as the run and `machine.noise` write it. `shard` names the share that the block comes
    from, in a set that was put together from shares; `unverified` has the case_ids whose results nothing verified."""

    retry: int
    shard: str
    started_at: str
    ended_at: str
    throttled: int | None
    load_before: float
    load_after: float
    mhz_before: float | None
    mhz_after: float | None
    unverified: list[str]


@dataclass(frozen=True, slots=True)
class Block:
    """One complete run of a block: the block's number, the retry, and its record."""

    block: int
    retry: int
    record: dict[str, Any]

    @classmethod
    def of(cls, record: dict[str, Any], where: str) -> Block:
        """Returns the block of a record. Raises Damaged if it lacks its retry, or a canary before and after."""
        retry = record.get("retry")
        if not retry or len(record["canary_seconds"]) != 2:
            raise Damaged(f"{where} isn't a block's record: it lacks its retry, or a canary before and after.")
        return cls(record["block"], retry, record)

    @property
    def accepted(self) -> bool:
        """Whether the block counts: False for one that was run again because of noise."""
        return bool(self.record["verdict"] == "accepted")


def with_noise(rows: Iterable[Row], blocks: Sequence[Block]) -> list[Row]:
    """Returns the rows with the canaries, steal shares and flags of their blocks."""
    by_run = {(block.block, block.retry): block for block in blocks}
    return [row if row["purpose"] in OUTSIDE_BLOCKS else of_block(row, by_run) for row in rows]


def of_block(row: Row, by_run: dict[tuple[int, int], Block]) -> Row:
    """Returns one row with the columns and flags of its block's record; a block without a record was cut short."""
    block = by_run.get((row["block"], row["retry"])) or earlier_block(by_run, row)
    if block is None:
        return row | {"flags": flags(row, Flag.INCOMPLETE_BLOCK)}
    added = []
    if block.record["reasons"] and row["outcome"] != Outcome.UNSUPPORTED:  # where no process ran, none was disturbed
        added.append(Flag.NOISY)
    if row["case_id"] in block.record.get("unverified", []) and row["outcome"] == Outcome.OK:
        added.append(Flag.UNVERIFIED)
    if not block.accepted:
        added.append(Flag.REJECTED_BLOCK)
    return row | {
        "canary_seconds": block.record["canary_seconds"],
        "steal_share": block.record["steal_share"],
        "flags": flags(row, *added),
    }


def flags(row: Row, *added: Flag) -> list[str]:
    """Returns the row's flags with some added; none occurs twice."""
    return list(dict.fromkeys([*row["flags"], *map(str, added)]))


def earlier_block(by_run: dict[tuple[int, int], Block], row: Row) -> Block | None:
    """Returns the accepted block of a process that was later run again by itself, which leaves no block record."""
    blocks = (by_run[run] for run in by_run if run[0] == row["block"] and run[1] < row["retry"])
    return next((block for block in blocks if block.accepted), None)
