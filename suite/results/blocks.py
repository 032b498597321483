"""What only the end of a block tells of its rows: noise around them, and whether the block counts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from suite.case import OUTSIDE_BLOCKS, Flag, Outcome
from suite.results.rows import Row


@dataclass(frozen=True, slots=True)
class Block:
    """The record of one complete run of a block: its number, the retry, and whether it counts."""

    block: int
    retry: int
    record: dict[str, Any]

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
    return row | {"canary_seconds": block.record["canary_seconds"], "steal_share": block.record["steal_share"],
                  "flags": flags(row, *found)}  # fmt: skip


def flags(row: Row, *more: Flag) -> list[str]:
    """Its flags and some more, each once."""
    return list(dict.fromkeys([*row["flags"], *map(str, more)]))


def mended(records: dict[tuple[int, int], Block], row: Row) -> Block | None:
    """The accepted block in which a row was run again by itself, which leaves no block record of its own."""
    return next((b for (n, a), b in records.items() if n == row["block"] and a < row["retry"] and b.accepted), None)
