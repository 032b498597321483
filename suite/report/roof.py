"""How near a step comes to the machine's roof: t* / t with t* = max(F / P, bytes / bandwidth)."""

from __future__ import annotations

from dataclasses import dataclass

from suite.report.rows import Row
from suite.results import Results


@dataclass(frozen=True, slots=True)
class Roof:
    """What this machine's cores and memory reach: float32 operations and bytes a second."""

    flops_per_second: float
    bytes_per_second: float

    def seconds(self, row: Row) -> float | None:
        """The least time that the row's step can take; None where its work is unknown."""
        flops, floor = row.number("flops"), row.number("bytes_floor")
        if flops is None or floor is None:
            return None
        return max(flops / self.flops_per_second, floor / self.bytes_per_second)


def roof_of(results: Results, rows: tuple[Row, ...]) -> Roof | None:
    """The sweep's roof, raised by any stack of the set that did better; None for a set without a sweep."""
    if not results.roofline:
        return None
    best = float(results.roofline["flops_per_second_best"])
    for row in rows:
        flops = row.number("flops")
        if row.outcome == "ok" and row.steady and flops:
            best = max(best, flops / row.median)
    return Roof(best, float(results.roofline["bytes_per_second_best"]))
