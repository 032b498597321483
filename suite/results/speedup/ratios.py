"""The ratios of every stack over one baseline, which are computed once and then judged in families."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from suite.protocol import Protocol
from suite.results.speedup.family import Pool, Sample
from suite.results.speedup.pairing import Side, Timings, log_ratios


@dataclass(frozen=True, slots=True)
class Ratios:
    """Every stack over one baseline. `logs` has the block log-ratios of each side that shares a block with the
    baseline, `by_question` has these sides by question. Sides with two blocks or more are the samples of `pool`, at the
    indices `places`."""

    logs: Mapping[Side, dict[int, float]]
    by_question: Mapping[str, Sequence[Side]]
    pool: Pool
    places: Mapping[Side, int]

    @classmethod
    def of(cls, timings: Mapping[Side, Timings], baseline: str, protocol: Protocol) -> Ratios:
        """Pairs every stack with the baseline. A side with one block is no sample, because it has no spread."""
        logs: dict[Side, dict[int, float]] = {}
        by_question: dict[str, list[Side]] = {}
        samples: dict[Side, Sample] = {}
        for side, of_stack in timings.items():
            question, stack = side
            by_block = log_ratios(of_stack, timings.get((question, baseline), {})) if stack != baseline else {}
            if by_block:
                logs[side] = by_block
                by_question.setdefault(question, []).append(side)
            if len(by_block) > 1:
                free, shared = freedom(len(by_block), protocol), controls(timings, question, baseline)
                samples[side] = Sample.of(question, by_block.values(), free, shared)
        return cls(logs, by_question, Pool.of(samples.values()), {side: place for place, side in enumerate(samples)})

    def families(self, sides: Iterable[Side], *, one_family: bool) -> list[tuple[list[Side], list[int]]]:
        """Returns (sides, their places in the pool) of each family: the sides of a question, or all as `one_family`.
        Sides without a sample are left out."""
        families: dict[str, tuple[list[Side], list[int]]] = {}
        for side in sides:
            if side in self.places:
                members, places = families.setdefault("" if one_family else side[0], ([], []))
                members.append(side)
                places.append(self.places[side])
        return [*families.values()]


def controls(timings: Mapping[Side, Timings], question: str, baseline: str) -> int:
    """Returns how many processes the baseline has in each block of a question; the least number if blocks differ."""
    return min((len(processes) for processes in timings.get((question, baseline), {}).values()), default=1)


def freedom(blocks: int, protocol: Protocol) -> int:
    """Returns the degrees of freedom of a number of blocks; those of the first stage if a second one may follow (Stein
    1945)."""
    return (min(blocks, protocol.blocks) if protocol.blocks_max > protocol.blocks else blocks) - 1
