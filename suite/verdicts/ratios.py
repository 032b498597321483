"""The block log-ratios of every stack over one baseline, with their moderated means."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from suite.protocol import Protocol
from suite.stats import Mean
from suite.verdicts.moderation import moderate
from suite.verdicts.pairing import Logs, Side, Timings, counting, log_ratios


@dataclass(frozen=True, slots=True)
class Ratios:
    """Every stack over one baseline. `logs` has the block log-ratios of each side that shares a block with the
    baseline, `means` the moderated means of those with two blocks or more: one block has no spread."""

    logs: Mapping[Side, Logs]
    means: Mapping[Side, Mean]


def over(timings: Mapping[Side, Timings], baseline: str, protocol: Protocol) -> Ratios:
    """Pairs every stack with the baseline."""
    found = {
        side: log_ratios(*counting(processes, timings.get((side[0], baseline), {}), protocol))
        for side, processes in timings.items()
        if side[1] != baseline
    }
    logs = {side: by_block for side, by_block in found.items() if by_block}
    return Ratios(logs, moderate(means_of(logs, protocol)))


def means_of(logs: Mapping[Side, Logs], protocol: Protocol) -> dict[Side, Mean]:
    """Returns the mean of each side with two blocks or more."""
    return {side: mean_of_blocks(by_block.values(), protocol) for side, by_block in logs.items() if len(by_block) > 1}


def mean_of_blocks(logs: Collection[float], protocol: Protocol) -> Mean:
    return Mean.of(logs, freedom(len(logs), protocol))


def freedom(blocks: int, protocol: Protocol) -> int:
    """Returns the degrees of freedom of a number of blocks, two or more; those of the first stage if a second one may
    follow (Stein 1945). A first stage of one block has none, so it counts as one of two."""
    if protocol.until_decided:
        return blocks - 1
    return max(1, (min(blocks, protocol.blocks) if protocol.blocks_max > protocol.blocks else blocks) - 1)
