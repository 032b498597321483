"""One comparison as the page shows it: a link target, a line of what was asked, a unit for each column."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from suite.results.analysis import Comparison
from suite.results.questions.names import DETAILS, details, dims_words
from suite.results.stack_figures import StackFigures
from suite.results.store.rows import Row
from suite.units import Unit, byte_unit, rate_unit, time_unit


@dataclass(frozen=True, slots=True)
class Units:
    """The unit of each column of one comparison; the steady clocks share one."""

    first: Unit
    second: Unit
    steady: Unit
    compile: Unit
    memory: Unit
    rate: Unit


@dataclass(frozen=True, slots=True)
class Section:
    """A comparison with what it takes to print it."""

    comparison: Comparison
    anchor: str
    subtitle: str
    units: Units

    @property
    def has_roofline(self) -> bool:
        """Whether the set knows what the machine reaches."""
        return any(each.efficiency is not None for each in self.comparison.stacks)

    @property
    def has_cores(self) -> bool:
        """Whether processes told which cores they had."""
        return any(each.cores is not None for each in self.comparison.stacks)

    @property
    def has_kernels(self) -> bool:
        """Whether it was asked which libraries do the work."""
        return any(each.kernels for each in self.comparison.stacks)

    @property
    def has_device_memory(self) -> bool:
        """Whether any stack reported memory of a device."""
        return any(each.device_peak is not None for each in self.comparison.stacks)


def section(comparison: Comparison) -> Section:
    """The section of a comparison."""
    return Section(comparison, anchor(comparison), subtitle(comparison.head), column_units(comparison))


def anchor(comparison: Comparison) -> str:
    """Where links to a comparison lead."""
    return link_target("c", comparison.name, comparison.id)


def link_target(kind: str, name: str, id_: str) -> str:
    """Where links to a question lead: `c-gemm-forward-1a2b3c4d`."""
    return f"{kind}-{re.sub(r'[^a-z0-9]+', '-', name.lower()).strip('-')}-{id_[:8]}"


def subtitle(head: Row, without: Collection[str] = ()) -> str:
    """`n = 1,024 · full · f32 · cpu · default track · cold cache · 2 cores`, `without` some dims and details."""
    hidden = {"limit_memory_bytes"} if head.number("limit_memory_bytes") is None else set()
    hidden |= {"allocator"} if head["allocator"] != "system" else set()
    hidden |= {"device"} if head["device"] == head["target"] else set()
    shown = [name for name in DETAILS if name not in hidden | {*without}]
    parts = [dims_words(head.mapping("dims"), without), *details(head, shown)]
    return " · ".join(part for part in parts if part)


def column_units(comparison: Comparison) -> Units:
    """One unit a column, by the middle of its values."""
    stacks: Sequence[StackFigures] = comparison.stacks
    return Units(
        first=time_unit(each.first for each in stacks),
        second=time_unit(each.second for each in stacks),
        steady=time_unit(each.median.value for each in stacks),
        compile=time_unit(each.compile for each in stacks if each.compile),
        memory=byte_unit(value for each in stacks for value in (each.host_step, each.host_build)),
        rate=rate_unit((each.items_per_second for each in stacks), comparison.item),
    )
