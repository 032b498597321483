"""The section "Comparisons": each question with its two tables of stacks, its noise floor and its figures.

The tables of Markdown and of the console are made in comparison_tables.py.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from suite import units
from suite.answers.figures.axes import Plot
from suite.answers.figures.bars import KINDS, MEMORY, Bars, bars
from suite.answers.figures.plots import comparison_plots, speedup_plot
from suite.answers.sentences import counted, listed
from suite.report.map.remedies import HowMade
from suite.report.sections.labels import comparison_anchor, subtitle
from suite.report.sections.mkl_note import MklNote, mkl_note
from suite.report.sections.section import AnswerLine, Context, Section
from suite.report.sections.timed.comparison_tables import console_table, speedup_table
from suite.report.sections.timed.headlines import Headline
from suite.report.sections.timed.units import Units, column_units
from suite.report.tables import Table, Value
from suite.results.analysis import Analysis, Comparison
from suite.results.cases.break_even import Calls
from suite.results.questions.sweeps import sweeps
from suite.results.ranking import compared_stacks
from suite.results.stack_columns import ColumnPlace, StackColumn, ratio_json, shown_columns, values_in
from suite.results.stack_figures import StackFigures
from suite.stats import Estimate

ITSELF, ONCE = Estimate(1.0), "1×"  # the baseline's ratio, as the tables write it
QUESTIONS_ACROSS = 4  # columns of one table in Markdown; further questions get another table


@dataclass(frozen=True, slots=True)
class ColumnHead:
    """The head of a column in a table of the page: its lines, the small print below, and the unit of the cells."""

    column: StackColumn
    lines: tuple[str, ...]
    note: str
    unit: units.Unit | None


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """A comparison with all that the page shows of it. `analysis` is that of its set, `machine` are the facts of
    the machine that ran it, and `made_by` says how the set was made. Each property is computed when the page reads it,
    since other formats need none of them."""

    comparison: Comparison
    headline: Headline
    anchor: str
    tie: float
    confidence: str
    analysis: Analysis
    machine: Mapping[str, Any]
    made_by: HowMade | None

    @property
    def mkl_note(self) -> MklNote | None:
        """Returns why MKL took its default path; None if no stack's kernels name that path."""
        return mkl_note(self.comparison, self.analysis, self.machine, self.made_by)

    @property
    def out_of_order(self) -> str:
        """Returns why two stacks are in another order by their ratios than by their medians; empty if all ratios have
        the order of the medians."""
        return order_words(self.comparison)

    @property
    def total_times(self) -> str:
        """Returns the anchor of its total times over steps; empty if fewer than two stacks have them."""
        known = sum(Calls.of(stack) is not None for stack in self.comparison.stacks)
        return f"break_even-{comparison_anchor(self.comparison)}" if known > 1 else ""

    @property
    def subtitle(self) -> str:
        """Returns the dims and settings of the question, for the line under its name."""
        return subtitle(self.comparison.head)

    @property
    def timing(self) -> tuple[ColumnHead, ...]:
        """Returns the heads of its first table, the time of one step."""
        return self.heads(ColumnPlace.TIMING)

    @property
    def clocks(self) -> tuple[ColumnHead, ...]:
        """Returns the heads of its second table: clocks, compiling and memory."""
        return self.heads(ColumnPlace.CLOCKS)

    @property
    def plots(self) -> tuple[Plot, ...]:
        """Returns the figures that no baseline changes: processes, and first, second and steady runs."""
        column = column_units(self.comparison)
        of_run = {"first": column.first, "second": column.second, "steady": column.steady}
        return comparison_plots(self.comparison.stacks, of_run, self.anchor)

    @property
    def speedups(self) -> Plot | None:
        """Returns the figure of its speedups over its baseline."""
        return speedup_plot(self.comparison, self.anchor, self.tie)

    @property
    def peaks(self) -> Bars | None:
        """Returns the bars of its stacks' peaks of memory."""
        return peak_bars(self.comparison, self.anchor)

    def heads(self, place: ColumnPlace) -> tuple[ColumnHead, ...]:
        """Returns the heads of the columns that a table shows."""
        column = column_units(self.comparison)
        return tuple(head(shown, column, self.confidence) for shown in shown_columns(place, self.comparison.stacks))


@dataclass(frozen=True, slots=True)
class ComparisonsSection(Section):
    """The comparisons of a set by name, and the stacks of their Markdown table, the baseline last."""

    views: tuple[ComparisonView, ...]
    baseline: str
    stacks: tuple[str, ...]
    confidence: str

    name = "comparisons"
    nav = "Comparisons"
    key = "comparisons"
    topic = "which stack is fastest"
    terms = (
        "first run",
        "second run",
        "steady state",
        "average",
        "median",
        "interval",
        "p5, p95",
        "outlier",
        "speedup",
        "verdict",
        "tie",
        "close",
        "undecided",
        "noise floor",
        "A/A twin",
        "two modes",
        "dispatch",
        "synced",
        "pipelined",
        "fetch",
        "throughput",
        "efficiency",
        "compile time",
        "compilations",
        "graph break",
        "cores had",
        "page faults",
        "peak memory",
        "floor",
        "relative error",
        "kernels",
        "default path",
        "no steady state",
        "disturbed",
        "noisy",
        "recompiled",
        "fallback ops",
    )

    @classmethod
    def of(cls, context: Context) -> ComparisonsSection | None:
        """Returns the section; None without a timed process."""
        analysis = context.analysis
        if not analysis.comparisons:
            return None
        made_by = HowMade.of(context.results)
        tie, confidence = context.protocol.tie_ratio, units.percent(context.protocol.confidence)
        views = (
            ComparisonView(
                comparison,
                headline,
                comparison_anchor(comparison),
                tie,
                confidence,
                analysis,
                context.results.machine,
                made_by,
            )
            for comparison, headline in zip(analysis.comparisons, context.headlines, strict=True)
        )
        stacks = [stack for stack in compared_stacks(analysis) if stack != analysis.baseline]
        return cls(tuple(views), analysis.baseline, (*stacks, analysis.baseline), confidence)

    @property
    def answer(self) -> str:
        """Returns which stacks have the lowest median, and on how many comparisons."""
        first = Counter(view.headline.lowest for view in self.views if view.headline.lowest)
        stacks = [f"{stack} in {number}" for stack, number in first.most_common()]
        lowest = f"the lowest median is that of {listed(stacks)}" if stacks else "no stack has a time that counts"
        return f"{counted(len(self.views), 'comparison')}: {lowest}."

    @classmethod
    def names(cls, analysis: Analysis) -> Mapping[str, str]:
        """Returns the names of the comparisons."""
        return {comparison.id: comparison.name for comparison in analysis.comparisons}

    def answers(self) -> Sequence[AnswerLine]:
        """Returns the answer to each comparison."""
        return [
            AnswerLine(
                question=headline.question,
                anchor=view.anchor,
                text=headline.text,
                before=headline.before,
                stack=headline.lowest,
                after=headline.rest,
                stands_out=headline.has_interval,
            )
            for view in self.views
            for headline in (view.headline,)
        ]

    def tables(self) -> Sequence[Table]:
        """Returns the speedups: a line for each stack, a column for each question. A question file has a table of its
        own, that of the console."""
        single = self.single()
        asked = [view for view in single if view.comparison.head["implementation"]]
        timed = [view.comparison for view in single if view.comparison.stacks and view not in asked]
        return [
            *(console_table(view.comparison, view.headline.text) for view in asked),
            *(
                speedup_table(timed[first : first + QUESTIONS_ACROSS], self.stacks, self.baseline)
                for first in range(0, len(timed), QUESTIONS_ACROSS)
            ),
        ]

    @property
    def cause(self) -> MklNote | None:
        """Returns the first question's note on MKL's path."""
        return next((note for view in self.views if (note := view.mkl_note)), None)

    def console(self) -> Sequence[Table]:
        """Returns a table for each comparison, with its answer."""
        return [console_table(view.comparison, view.headline.text) for view in self.single()]

    def single(self) -> list[ComparisonView]:
        """Returns the comparisons that are in no sweep, which has a table of its own."""
        swept = {each.id for sweep in sweeps(view.comparison for view in self.views) for each in sweep.comparisons}
        return [view for view in self.views if view.comparison.id not in swept]

    def lines(self) -> Iterable[Mapping[str, Value]]:
        """Returns a line for each stack of each comparison, in seconds and bytes."""
        for view in self.views:
            for cell in view.comparison.cells:
                yield {
                    "question": view.comparison.name,
                    "stack": cell.stack,
                    "purpose": "timed",
                    "outcome": cell.outcome,
                    "reason": cell.reason,
                    "ok": cell.ok,
                    "planned": cell.total,
                    **values_in(ColumnPlace.CSV, view.comparison.of(cell.stack)),
                }

    def data(self) -> list[Any]:
        """Returns each comparison with its answer, its noise floor and its stacks."""
        return [comparison_json(view.comparison, view.headline.text) for view in self.views]


def head(column: StackColumn, of_comparison: Units, confidence: str) -> ColumnHead:
    """Returns the head of a column, with its unit and the set's confidence filled in."""
    unit = getattr(of_comparison, column.unit) if column.unit else None
    title, note = (
        text.format(unit=unit.name if unit else "", confidence=confidence) for text in (column.title, column.note)
    )
    return ColumnHead(column, tuple(title.split("\n")), note, unit)


def order_words(comparison: Comparison) -> str:
    """Returns a sentence on the first two neighbours by median whose ratios, as they are shown, have another order;
    empty if there are none."""
    known = [
        (stack.stack, stack.speedup.ratio if stack.speedup else ITSELF)
        for stack in comparison.stacks
        if stack.counts and (stack.speedup or stack.is_baseline)
    ]
    for (upper, ratio), (lower, greater) in pairwise(known):
        shown = [ONCE if each == ITSELF else units.ratio(each.value, each.low, each.high) for each in (greater, ratio)]
        if greater.value > ratio.value and shown[0] != shown[1]:
            return (
                f"The order is that of the medians. By ratio {lower} ({shown[0]}) comes before {upper} ({shown[1]}): a "
                "ratio is formed inside each block and then averaged, and medians aren't paired."
            )
    return ""


def peak_bars(comparison: Comparison, anchor: str) -> Bars | None:
    """Returns the bars of each stack's greatest peak by its parts; None if no stack has a peak."""
    stacks = [stack for stack in comparison.stacks if stack.peak_parts]
    floor = max((stack.floor_bytes for stack in stacks), default=0.0)
    peaks = [(stack.stack, stack.peak_parts) for stack in stacks]
    return bars(f"{anchor}-parts", "Peak of memory by its parts", peaks, KINDS, MEMORY, floor)


def comparison_json(comparison: Comparison, answer: str) -> dict[str, Any]:
    """Returns one comparison for JSON; a stack without times has its outcome and reason alone."""
    untimed = [{"stack": cell.stack, "outcome": cell.outcome, "reason": cell.reason} for cell in comparison.untimed]
    return {
        "name": comparison.name,
        "answer": answer,
        "baseline": comparison.baseline,
        "stands_in_for": comparison.stands_in_for or None,
        "noise_floor": ratio_json(comparison.noise),
        "stacks": [*map(stack_json, comparison.stacks), *untimed],
    }


def stack_json(stack: StackFigures) -> dict[str, Any]:
    """Returns one stack of a comparison for JSON, with times in seconds."""
    return {"stack": stack.stack, "outcome": stack.outcome} | values_in(ColumnPlace.JSON, stack)
