"""The section "Comparisons": each question with its two tables of stacks, its noise floor and its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suite import units
from suite.case import Outcome
from suite.report.figures.axes import Plot
from suite.report.figures.bars import KINDS, MEMORY, Bars, bars
from suite.report.figures.plots import comparison_plots, speedup_plot
from suite.report.sections.labels import compared_stacks, comparison_anchor, outcome_text, subtitle
from suite.report.sections.section import AnswerLine, Context, Section
from suite.report.sections.sentences import counted, listed
from suite.report.sections.timed.headlines import Headline, standing_in
from suite.report.sections.timed.units import Units, column_units
from suite.report.tables import Table, Value
from suite.results.analysis import Analysis, Comparison
from suite.results.speedup.verdicts import ALONE
from suite.results.stack_columns import ColumnPlace, StackColumn, ratio_json, shown_columns, values_in
from suite.results.stack_figures import StackFigures

QUESTIONS_ACROSS = 4  # of one table in Markdown; further questions get a further table


@dataclass(frozen=True, slots=True)
class Head:
    """A column of the page's table: the lines of its head, the small print below, and the unit of its cells."""

    column: StackColumn
    lines: tuple[str, ...]
    note: str
    unit: units.Unit | None


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """A comparison with all that the page shows of it, drawn when the page asks: other formats need none of it."""

    comparison: Comparison
    headline: Headline
    anchor: str
    tie: float
    confidence: str

    @property
    def subtitle(self) -> str:
        """Returns the question's dims and columns."""
        return subtitle(self.comparison.head)

    @property
    def timing(self) -> tuple[Head, ...]:
        """Returns the columns of its first table."""
        return self.heads(ColumnPlace.TIMING)

    @property
    def clocks(self) -> tuple[Head, ...]:
        """Returns the columns of its second table."""
        return self.heads(ColumnPlace.CLOCKS)

    @property
    def plots(self) -> tuple[Plot, ...]:
        """Returns its figures that no baseline changes."""
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

    def heads(self, place: ColumnPlace) -> tuple[Head, ...]:
        """Returns the columns of a table."""
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
        tie, confidence = context.protocol.tie_ratio, units.percent(context.protocol.confidence)
        views = (
            ComparisonView(comparison, headline, comparison_anchor(comparison), tie, confidence)
            for comparison, headline in zip(analysis.comparisons, context.headlines, strict=True)
        )
        stacks = [stack for stack in compared_stacks(analysis) if stack != analysis.baseline]
        return cls(tuple(views), analysis.baseline, (*stacks, analysis.baseline), confidence)

    @property
    def answer(self) -> str:
        """Returns which stacks have the lowest median, and on how many comparisons."""
        first = Counter(view.headline.fastest for view in self.views if view.headline.fastest)
        stacks = [f"{stack} in {number}" for stack, number in first.most_common()]
        lowest = f"the lowest median is that of {listed(stacks)}" if stacks else "no stack has a time that counts"
        return f"{counted(len(self.views), 'comparison')}: {lowest}."

    @classmethod
    def names(cls, analysis: Analysis) -> Mapping[str, str]:
        """Returns the names of the comparisons."""
        return {comparison.id: comparison.name for comparison in analysis.comparisons}

    def answers(self) -> Sequence[AnswerLine]:
        """Returns the fastest stack of each comparison."""
        return [
            AnswerLine(
                question=headline.question,
                anchor=view.anchor,
                text=headline.text,
                before=headline.before,
                stack=headline.fastest,
                after=headline.rest,
                stands_out=headline.has_interval,
            )
            for view in self.views
            for headline in (view.headline,)
        ]

    def tables(self) -> Sequence[Table]:
        """Returns speedups: a line a stack, a column a question."""
        timed = [view.comparison for view in self.views if view.comparison.stacks]
        return [
            self.speedups(timed[first : first + QUESTIONS_ACROSS]) for first in range(0, len(timed), QUESTIONS_ACROSS)
        ]

    def speedups(self, comparisons: Sequence[Comparison]) -> Table:
        """Returns the speedups on some questions; the line of the baseline has its times."""
        names = [
            f"{comparison.name} (over {comparison.baseline})" if comparison.stands_in_for else comparison.name
            for comparison in comparisons
        ]
        planned = {cell.stack for comparison in comparisons for cell in comparison.cells} | {self.baseline}
        floors = [
            f"{comparison.name} {units.estimate(ratio.value, ratio.low, ratio.high)}"
            for comparison in comparisons
            if comparison.noise
            for ratio in (comparison.noise.ratio,)
        ]
        noise = f"Noise floor, a stack over itself: {', '.join(floors)}. A speedup inside it means nothing."
        return Table(
            f"Speedup over {self.baseline}",
            ["stack", *names],
            [
                [stack, *(speedup_cell(comparison, stack) for comparison in comparisons)]
                for stack in self.stacks
                if stack in planned
            ],
            numbers=names,
            before=[*filter(None, map(standing_in, comparisons))],
            after=[noise] * bool(floors),
        )

    def console(self) -> Sequence[Table]:
        """Returns a table for each comparison, with its answer."""
        return [console_table(view.comparison, view.headline.text) for view in self.views]

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


def head(column: StackColumn, of_comparison: Units, confidence: str) -> Head:
    """Returns the head of a column, its unit and the set's confidence filled in."""
    unit = getattr(of_comparison, column.unit) if column.unit else None
    title, note = (
        text.format(unit=unit.name if unit else "", confidence=confidence) for text in (column.title, column.note)
    )
    return Head(column, tuple(title.split("\n")), note, unit)


def peak_bars(comparison: Comparison, anchor: str) -> Bars | None:
    """Returns the greatest peak of each stack by its parts; None where no stack has one."""
    stacks = [stack for stack in comparison.stacks if stack.peak_parts]
    floor = max((stack.floor_bytes for stack in stacks), default=0.0)
    peaks = [(stack.stack, stack.peak_parts) for stack in stacks]
    return bars(f"{anchor}-parts", "Peak of memory by its parts", peaks, KINDS, MEMORY, floor)


def speedup_cell(comparison: Comparison, stack: str) -> str:
    """Returns `1.42× [1.35, 1.50] faster`; of an undecided ratio the reason first: `undecided, the interval contains
    1×: 1.03× [0.91, 1.18]`; of the baseline its time; of a stack without times how it ended."""
    cell = next((cell for cell in comparison.cells if cell.stack == stack), None)
    figures = comparison.of(stack)
    if cell is None:
        return units.UNKNOWN
    if figures is None or not figures.counts:
        return outcome_text(cell)
    aside = f", {outcome_text(cell)}" if cell.failed else ""
    if figures.is_baseline or figures.speedup is None:
        return f"{column_units(comparison).steady(figures.median.value)}{aside}"
    if figures.speedup.why:
        return f"undecided, {figures.speedup.why}: {speedup_text(figures)}{aside}"
    alone = f" ({ALONE})" if figures.speedup.note == ALONE else ""
    return f"{speedup_text(figures)} {figures.speedup.verdict}{alone}{aside}"


def console_table(comparison: Comparison, answer: str) -> Table:
    """Returns a comparison for the console: the fastest stack first; a stack without times has its outcome in place of
    a verdict, and comes last."""
    over = f"speedup over {comparison.baseline}"
    heads = ["stack", "median", "verdict", over, "first run", "second run", "average"]
    unit = column_units(comparison)
    lines = [
        [
            stack.stack,
            unit.steady(stack.median.value),
            verdict_text(stack),
            speedup_text(stack),
            unit.first(stack.first),
            unit.second(stack.second),
            unit.steady(stack.average),
        ]
        for stack in comparison.stacks
    ]
    dash = units.UNKNOWN
    lines += [[cell.stack, dash, outcome_text(cell), dash, dash, dash, dash] for cell in comparison.untimed]
    numbers = ["median", over, *heads[4:]]
    return Table(
        comparison.name, heads, lines, numbers=numbers, after=[*filter(None, [standing_in(comparison), answer])]
    )


def speedup_text(stack: StackFigures) -> str:
    """Returns `1.42× [1.35, 1.50]`."""
    if stack.speedup is None:
        return units.UNKNOWN
    ratio = stack.speedup.ratio
    return units.estimate(ratio.value, ratio.low, ratio.high)


def verdict_text(stack: StackFigures) -> str:
    """Returns the verdict, or `baseline`, with what else to know in parentheses; the outcome of a stack that doesn't
    count."""
    if not stack.counts:
        return outcome_text(stack.cell)
    verdict = stack.speedup.verdict if stack.speedup else units.UNKNOWN
    word = "baseline" if stack.is_baseline else verdict
    asides = [outcome_text(stack.cell)] if stack.outcome != Outcome.OK else []
    asides += [stack.speedup.why] if stack.speedup and stack.speedup.why else []
    asides += ["two modes"] if stack.has_modes else []
    asides += [ALONE] if stack.speedup and stack.speedup.note == ALONE else []
    return f"{word} ({', '.join(asides)})" if asides else word


def comparison_json(comparison: Comparison, answer: str) -> dict[str, Any]:
    """Returns one comparison as JSON has it; a stack without times has its outcome and reason alone."""
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
    """Returns one stack of a comparison as JSON has it; times in seconds."""
    return {"stack": stack.stack, "outcome": stack.outcome} | values_in(ColumnPlace.JSON, stack)
