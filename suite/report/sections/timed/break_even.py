"""The section "Break-even": each stack's total time over steps, and where it crosses the baseline's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from suite import units
from suite.report.figures.curves import CurveChart
from suite.report.figures.totals import Crosses, totals_chart
from suite.report.sections.labels import comparison_anchor, left_out
from suite.report.sections.section import Context, Section
from suite.report.sections.sentences import counted
from suite.report.sections.timed.headlines import is_long
from suite.report.sections.timed.units import column_units
from suite.report.tables import Table
from suite.results.analysis import Analysis, Comparison
from suite.results.cases.break_even import Calls, Course, Crossing, crossing, least
from suite.results.stack_figures import StackFigures
from suite.units import Unit, time_unit

TOTALS = (1, 10, 100, 1_000, 10_000)  # steps whose total time has a column
SORTED_BY = 100  # the steps of the column that the table is sorted by
LAST = TOTALS[-1]


@dataclass(frozen=True, slots=True)
class BreakEvenRow:
    """One stack: its calls, its total time in words at each of `TOTALS`, and where it crosses the baseline. `crossing`
    is None for the baseline itself, and if no block pairs the two."""

    calls: Calls
    totals: tuple[str, ...]
    crossing: Crossing | None
    words: str

    @property
    def seconds(self) -> tuple[float, ...]:
        """Returns the total time in seconds at each of `TOTALS`."""
        return tuple(self.calls.total(steps) for steps in TOTALS)

    @property
    def crosses(self) -> Crosses | None:
        """Returns the point where it crosses the baseline; None where it doesn't."""
        steps = self.crossing.steps if self.crossing else None
        return (self.calls, steps, f"{self.calls.stack}: {self.words}") if steps else None


@dataclass(frozen=True, slots=True)
class BreakEvenView:
    """One question. `id` is the anchor of its part of the section, `anchor` that of its comparison. `known` are the
    stacks whose times count, `left_out` names the others, each with its outcome. `first_unit` is the unit of the first
    runs. `baseline` is that of the comparison: a stack that stands in for the `chosen` baseline if this has no time
    that counts. Each property is computed when a format reads it."""

    name: str
    id: str
    anchor: str
    chosen: str
    baseline: str
    known: tuple[tuple[StackFigures, Calls], ...]
    left_out: tuple[str, ...]
    first_unit: Unit

    @property
    def leaders(self) -> str:
        """Returns which stacks have the least total time, each with its steps."""
        return leaders_words(least(calls for _, calls in self.known))

    @property
    def compiling(self) -> str:
        """Returns how long the first run takes of the stack that has the least total time in the end; empty if it
        takes less time than `MATTERS` of its steady steps."""
        in_the_end = least(calls for _, calls in self.known)[-1][1]
        last = next(calls for _, calls in self.known if calls.stack == in_the_end)
        return f" The first run of {last.stack} takes {self.first_unit(last.first)}." if is_long(last) else ""

    @property
    def units(self) -> tuple[Unit, ...]:
        """Returns the unit of each column of total times."""
        return tuple(time_unit(calls.total(steps) for _, calls in self.known) for steps in TOTALS)

    @property
    def heads(self) -> tuple[tuple[str, str], ...]:
        """Returns the columns of total times, each with its unit."""
        return tuple((steps_words(steps), unit.name) for steps, unit in zip(TOTALS, self.units, strict=True))

    @property
    def rows(self) -> tuple[BreakEvenRow, ...]:
        """Returns a line for each stack, the least total time after `SORTED_BY` steps first."""
        baseline = next((stack for stack, _ in self.known if stack.stack == self.baseline), None)
        of_steps = self.units
        return tuple(
            row(calls, None if stack.is_baseline else crossing(stack, baseline), stack.is_baseline, of_steps)
            for stack, calls in sorted(self.known, key=lambda known: (known[1].total(SORTED_BY), known[0].stack))
        )

    def chart(self, over: Sequence[BreakEvenView]) -> CurveChart:
        """Returns the total times over steps, with the points where stacks cross each of the baselines."""
        crossings = {view.chosen: [line.crosses for line in view.rows if line.crosses] for view in over}
        return totals_chart(self.id, self.name, [calls for _, calls in self.known], crossings, LAST)


@dataclass(frozen=True, slots=True)
class BreakEvenSection(Section):
    """The questions in which two stacks or more have times that count, by name."""

    views: tuple[BreakEvenView, ...]

    name = "break_even"
    nav = "Break-even"
    anchor = "break-even"
    heading = "Total time over steps"
    key = "break_even"
    sorted_by = SORTED_BY
    terms = ("total time", "break-even", "baseline", "undecided")

    @classmethod
    def of(cls, context: Context) -> BreakEvenSection | None:
        """Returns the section; None where no question has two stacks to compare."""
        views = break_even_views(context.analysis)
        return cls(views) if views else None

    @property
    def answer(self) -> str:
        """Returns which stacks have the least total time on the first question, each with its steps."""
        first, more = self.views[0], len(self.views) - 1
        rest = f" ({counted(more, 'more comparison')} below)" if more else ""
        return f"Least total time on {first.name}, by the medians: {first.leaders}{rest}.{first.compiling}"

    def tables(self) -> Sequence[Table]:
        """Returns a line for each question: which stacks have the least total time, each with its steps."""
        lines = [[view.name, view.leaders] for view in self.views]
        return [
            Table(
                "Least total time over steps, the first call included",
                ["question", "least total time, by the medians"],
                lines,
            )
        ]

    def console(self) -> Sequence[Table]:
        """Returns nothing: a run's last lines are about steady times."""
        return []

    def data(self) -> list[Any]:
        """Returns each question with the calls of its stacks, in seconds, and where they cross the baseline."""
        return [
            {
                "name": view.name,
                "baseline": view.baseline,
                "stacks": [
                    {
                        "stack": row.calls.stack,
                        "first_seconds": row.calls.first,
                        "second_seconds": row.calls.second,
                        "steady_seconds": row.calls.steady,
                        "course": row.crossing and row.crossing.course,
                        "steps": row.crossing and row.crossing.steps,
                        "reason": (row.crossing and row.crossing.reason) or None,
                    }
                    for row in view.rows
                ],
            }
            for view in self.views
        ]


def break_even_views(analysis: Analysis) -> tuple[BreakEvenView, ...]:
    """Returns the view of each question in which two stacks or more have times that count."""
    views = []
    for comparison in analysis.comparisons:
        if id_ := totals_anchor(comparison):
            known = tuple((stack, calls) for stack in comparison.stacks if (calls := Calls.of(stack)))
            anchor, unit = comparison_anchor(comparison), column_units(comparison).first
            without = left_out(comparison, [stack.stack for stack, _ in known])
            views.append(
                BreakEvenView(
                    comparison.name, id_, anchor, analysis.baseline, comparison.baseline, known, without, unit
                )
            )
    return tuple(views)


def totals_anchor(comparison: Comparison) -> str:
    """Returns the anchor of a question's part of the section; empty if fewer than two stacks have times that count."""
    known = sum(Calls.of(stack) is not None for stack in comparison.stacks)
    return f"e-{comparison_anchor(comparison)}" if known > 1 else ""


def row(calls: Calls, crosses: Crossing | None, is_baseline: bool, of_steps: Sequence[Unit]) -> BreakEvenRow:
    """Returns one stack's line; `of_steps` has the unit of each column of total times."""
    totals = tuple(unit.show(calls.total(steps)) for steps, unit in zip(TOTALS, of_steps, strict=True))
    words = "baseline" if is_baseline else course_words(crosses)
    return BreakEvenRow(calls, totals, crosses, words)


def course_words(crosses: Crossing | None) -> str:
    """Returns `ahead from step 12 on`, `ahead up to step 40`, `never ahead`, or why it is undecided."""
    if crosses is None:
        return "no block pairs them"
    if crosses.course == Course.OVERTAKES:
        return f"ahead from step {units.steps(crosses.steps or 0)} on"
    if crosses.course == Course.OVERTAKEN:
        return f"ahead up to step {units.steps(crosses.steps or 0)}"
    return f"{crosses.course}: {crosses.reason}" if crosses.reason else str(crosses.course)


def leaders_words(stretches: Sequence[tuple[int, str]]) -> str:
    """Returns `torch_eager up to step 11, tf_xla up to step 40, jax_jit from there on`. The last stretch begins at the
    next step, which may have the same number once both are rounded."""
    if len(stretches) == 1:
        return f"{stretches[0][1]} from the first step on"
    words = [f"{stack} up to step {units.steps(after - 1)}" for (_, stack), (after, _) in pairwise(stretches)]
    return f"{', '.join(words)}, {stretches[-1][1]} from there on"


def steps_words(steps: int) -> str:
    """Returns `1 step`, `10,000 steps`."""
    return counted(steps, "step")
