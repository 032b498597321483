"""The section "Sweeps": a question at several sizes of one dim, as one table and a chart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from suite import units
from suite.answers.figures.axes import LogAxis
from suite.answers.figures.curves import CurveChart, curves
from suite.answers.figures.totals import round_time
from suite.answers.sentences import first_of
from suite.report.sections.labels import comparison_anchor, link_target
from suite.report.sections.section import Context, Section
from suite.report.sections.timed.comparison_tables import equal_words, heads_over, stack_lines
from suite.report.tables import Table
from suite.results.names import dims_words
from suite.results.questions.sweeps import Sweep, sweeps


@dataclass(frozen=True, slots=True)
class SweepView:
    """One sweep, as every format shows it."""

    sweep: Sweep

    @property
    def name(self) -> str:
        """Returns the question's name without the dim."""
        head = self.sweep.comparisons[0].head
        rest = dims_words(head.case.dims, (self.sweep.axis,))
        return f"{head['workload']} {head['pass']} over {self.sweep.axis}" + (f" ({rest})" if rest else "")

    @property
    def anchor(self) -> str:
        """Returns the id of its part of the section."""
        return link_target("sweep", self.name, self.sweep.comparisons[0].id)

    @property
    def answer(self) -> str:
        """Returns which stack has the lowest median at which sizes."""
        lowest = [
            (size, next((stack.stack for stack in each.stacks if stack.counts), ""))
            for size, each in zip(self.sweep.sizes, self.sweep.comparisons, strict=True)
        ]
        parts = []
        for stack, run in groupby(filter(lambda known: known[1], lowest), key=lambda known: known[1]):
            sizes = [size for size, _ in run]
            through = f" to {sizes[-1]:,}" if len(sizes) > 1 else ""
            parts.append(f"{stack} at {self.sweep.axis} = {sizes[0]:,}{through}")
        return f"{self.name}: the lowest median is that of {', then '.join(parts)}." if parts else ""

    @property
    def lines(self) -> list[list[str]]:
        """Returns a line for each size and stack."""
        pairs = zip(self.sweep.sizes, self.sweep.comparisons, strict=True)
        return [[f"{size:,}", *line] for size, each in pairs for line in stack_lines(each)]

    @property
    def links(self) -> list[tuple[str, str]]:
        """Returns (size, anchor of its comparison)."""
        pairs = zip(self.sweep.sizes, self.sweep.comparisons, strict=True)
        return [(f"{size:,}", comparison_anchor(each)) for size, each in pairs]

    @property
    def table(self) -> Table:
        """Returns the table."""
        bases = sorted({each.baseline for each in self.sweep.comparisons})
        heads = [self.sweep.axis, *heads_over(" or ".join(bases))]
        after = [*filter(None, [equal_words(self.sweep.comparisons), self.answer])]
        return Table(self.name, heads, self.lines, numbers=[heads[0], heads[2], *heads[4:]], after=after)

    @property
    def chart(self) -> CurveChart | None:
        """Returns the medians over the dim, a line for each stack; None without a stack that counts at two sizes."""
        points: dict[str, list[tuple[float, float]]] = {}
        for size, each in zip(self.sweep.sizes, self.sweep.comparisons, strict=True):
            for stack in each.stacks:
                if stack.counts:
                    points.setdefault(stack.stack, []).append((size, stack.median.value))
        lines = {name: known for name, known in points.items() if len(known) > 1}
        if not lines:
            return None
        across = LogAxis.over(list(self.sweep.sizes))
        up = LogAxis.over([seconds for known in lines.values() for _, seconds in known])
        series = {
            name: (known, f"{name}: " + ", ".join(f"{units.seconds(y)} at {x:,.0f}" for x, y in known))
            for name, known in lines.items()
        }
        return CurveChart(
            id=f"{self.anchor}-chart",
            title=f"Median of a step: {self.name}",
            across_label=f"{self.sweep.axis}, log scale; time on a log scale, too",
            across=across.ticks(),
            up=up.ticks(words=round_time),
            curves=curves(series, across, up),
        )


@dataclass(frozen=True, slots=True)
class SweepsSection(Section):
    """The sweeps of a set."""

    views: tuple[SweepView, ...]

    name = "sweeps"
    nav = "Sweeps"
    heading = "Over sizes"
    key = "sweeps"
    terms = ("median", "speedup", "verdict", "first run", "peak memory", "relative error")

    @classmethod
    def of(cls, context: Context) -> SweepsSection | None:
        """Returns the section; None for a set without a sweep."""
        views = tuple(map(SweepView, sweeps(context.analysis.comparisons)))
        return cls(views) if views else None

    @property
    def answer(self) -> str:
        """Returns the answer of the first sweep."""
        return first_of([view.answer for view in self.views], "sweep")

    def tables(self) -> Sequence[Table]:
        """Returns a table for each sweep."""
        return [view.table for view in self.views]

    def data(self) -> list[Any]:
        """Returns each sweep with its dim, its sizes and the names of its comparisons."""
        return [
            {
                "question": view.name,
                "axis": view.sweep.axis,
                "sizes": list(view.sweep.sizes),
                "comparisons": [each.name for each in view.sweep.comparisons],
                "answer": view.answer,
            }
            for view in self.views
        ]
