"""What only the end of a block tells of its rows: noise around them, and whether the block counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypedDict

from suite.case import OUTSIDE_BLOCKS, Flag, Outcome
from suite.errors import Damaged
from suite.results.store.rows import Row


class Known(TypedDict):
    """What every record of a block has."""

    block: int
    verdict: str
    reasons: list[str]
    canary_seconds: list[float]
    steal_share: float


class Record(Known, total=False):
    """A block's record, as the run of its attempts and `machine.noise` make it. `shard` is whose block it was, of a set
    that was put together."""

    retry: int
    shard: str
    started_at: str
    ended_at: str
    throttled: int | None
    load_before: float
    load_after: float
    mhz_before: float | None
    mhz_after: float | None


@dataclass(frozen=True, slots=True)
class Block:
    """The record of one complete run of a block: its number, the retry, and whether it counts."""

    block: int
    retry: int
    record: dict[str, Any]

    @classmethod
    def of(cls, record: dict[str, Any], where: str) -> Block:
        """By its record. Raises Damaged for one that doesn't say which run it was."""
        retry = record.get("retry")
        if not retry or len(record["canary_seconds"]) != 2:
            raise Damaged(f"{where} is no record of a block: it lacks its retry, or a canary before and after.")
        return cls(record["block"], retry, record)

    @property
    def accepted(self) -> bool:
        """False for a block that was run again because of noise."""
        return bool(self.record["verdict"] == "accepted")


def with_noise(rows: Iterable[Row], blocks: Sequence[Block]) -> list[Row]:
    """The rows with canaries, steal, and the flags of their blocks."""
    records = {(each.block, each.retry): each for each in blocks}
    return [row if row["purpose"] in OUTSIDE_BLOCKS else of_block(row, records) for row in rows]


def of_block(row: Row, records: dict[tuple[int, int], Block]) -> Row:
    """One row of a block, whose record is missing where the block was cut short."""
    block = records.get((row["block"], row["retry"])) or mended(records, row)
    if block is None:
        return row | {"flags": flags(row, Flag.INCOMPLETE_BLOCK)}
    found = []
    if block.record["reasons"] and row["outcome"] != Outcome.UNSUPPORTED:  # no process, no noise
        found.append(Flag.NOISY)
    if not block.accepted:
        found.append(Flag.REJECTED_BLOCK)
    return row | {
        "canary_seconds": block.record["canary_seconds"],
        "steal_share": block.record["steal_share"],
        "flags": flags(row, *found),
    }


def flags(row: Row, *more: Flag) -> list[str]:
    """Its flags and some more, each once."""
    return list(dict.fromkeys([*row["flags"], *map(str, more)]))


def mended(records: dict[tuple[int, int], Block], row: Row) -> Block | None:
    """The accepted block in which a row was run again by itself, which leaves no block record of its own."""
    return next((b for (n, a), b in records.items() if n == row["block"] and a < row["retry"] and b.accepted), None)
