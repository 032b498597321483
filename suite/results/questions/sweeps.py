"""Sweeps: comparisons that differ in the size of one dim."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from suite.results.analysis import Comparison
from suite.verdicts.grouping import grouped


@dataclass(frozen=True, slots=True)
class Sweep:
    """Comparisons in the order of a dim, `axis`, in which alone they differ."""

    axis: str
    comparisons: tuple[Comparison, ...]

    @property
    def sizes(self) -> tuple[int, ...]:
        return tuple(each.head.case.dims[self.axis] for each in self.comparisons)


def sweeps(comparisons: Iterable[Comparison]) -> tuple[Sweep, ...]:
    """Returns the sweeps among comparisons; none where several dims vary."""
    apart = ("stack", "variant", "implementation", "dims", "size")
    found = []
    for group in grouped(comparisons, lambda each: each.head.case.digest(*apart)).values():
        dims = [each.head.case.dims for each in group]
        varying = [name for name in dims[0] if len({of.get(name) for of in dims}) > 1]
        if len(varying) == 1:
            axis = varying[0]
            found.append(Sweep(axis, tuple(sorted(group, key=lambda each: each.head.case.dims[axis]))))
    return tuple(found)
