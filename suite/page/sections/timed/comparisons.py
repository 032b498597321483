"""The section "Comparisons": each question with its two tables of stacks, its noise floor and its figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import polars as pl

from suite import units
from suite.answers.answer import Answer, Asked
from suite.answers.comparisons import equal_words, short, speedups
from suite.answers.figures.bars import KINDS, bars
from suite.answers.figures.figure import Figure
from suite.answers.figures.times import processes, runs
from suite.answers.show import Part, only, part, rows_of, titles
from suite.page.sections.labels import comparison_anchor, panel_anchor, subtitle
from suite.page.sections.mkl_note import MklNote, mkl_note
from suite.page.sections.section import AnswerSection, Context
from suite.page.sections.timed.headlines import Headline, standing_in
from suite.page.sections.timed.units import column_units
from suite.page.tables import Table, Value
from suite.results.analysis import Comparison
from suite.results.cases.break_even import Calls
from suite.results.columns import in_order, shown_in
from suite.results.frame import Frame
from suite.results.questions.sweeps import sweeps
from suite.results.ranking import compared_stacks
from suite.results.ratios import ends
from suite.stats import Estimate

ITSELF = Estimate(1.0)  # the baseline's ratio
QUESTIONS_ACROSS = 4  # columns of one table in Markdown; further questions get another table
FLOOR_RULE = (
    "Two processes of one stack differ by up to the noise floor, so a speedup inside it is called neither faster nor "
    "slower."
)


@dataclass(frozen=True)
class ComparisonView:
    """A comparison with all that the page shows of it; `lines` is its part of the answer's table. Each property is
    computed when the page reads it, since other formats need none of them."""

    comparison: Comparison
    lines: pl.DataFrame
    headline: Headline
    frame: Frame

    @property
    def anchor(self) -> str:
        return comparison_anchor(self.comparison)

    @cached_property
    def mkl_note(self) -> MklNote | None:
        """Why MKL took its default path; None if that was recorded of no stack."""
        results = self.frame.results
        return mkl_note(self.comparison, self.frame.analysis, results.machine, results.plan_file)

    @property
    def out_of_order(self) -> str:
        return order_words(self.comparison)

    @property
    def total_times(self) -> str:
        """The anchor of its total times over steps; empty if fewer than two stacks have them."""
        known = sum(Calls.of(stack) is not None for stack in self.comparison.timed)
        return f"break_even-{self.anchor}" if known > 1 else ""

    @property
    def subtitle(self) -> str:
        return subtitle(self.comparison.head)

    @property
    def timing(self) -> Part:
        return self.part(shown_in("timing"))

    @property
    def clocks(self) -> Part:
        return self.part(shown_in("clocks"))

    def part(self, names: Sequence[str]) -> Part:
        itself = pl.when(judged="baseline").then(ITSELF.value).otherwise("speedup")
        return part("", only(self.lines.drop_nulls("median_seconds").with_columns(speedup=itself), names))

    @property
    def figures(self) -> Sequence[Figure | None]:
        """Those that no baseline changes: processes; first, second and steady runs; and the peaks by their parts."""
        column, stacks = column_units(self.comparison), self.comparison.timed
        of_run = {"first": column.first, "second": column.second, "steady": column.steady}
        known = [stack for stack in stacks if stack.peak_parts]
        floor = max((stack.floor_bytes for stack in known), default=0.0)
        peaks = [(stack.stack, stack.peak_parts) for stack in known]
        return (
            processes(stacks, column.steady, self.anchor),
            runs(stacks, of_run, self.anchor),
            bars(f"{self.anchor}-parts", "Peak of memory by its parts", peaks, KINDS, units.byte_unit, floor),
        )

    @property
    def speedups(self) -> Figure:
        name = f"{self.anchor}-over-{self.frame.analysis.baseline}"  # several baselines may have the same stand-in
        figure = speedups(self.comparison, self.lines, name, self.frame.protocol.tie_ratio)
        return replace(figure, links={stack: panel_anchor(self.comparison, stack) for stack in figure.names})

    @property
    def console(self) -> Table:
        """Its table on the console, the fastest stack first, those without times last."""
        shown = short(self.lines)
        over = f"speedup over {self.comparison.baseline}"
        heads = [over if head == "speedup" else head for head in titles(shown.heads)]
        numbers = [over, *titles(head for head in shown.heads if head.is_number)]
        after = [standing_in(self.comparison), equal_words(self.lines), self.headline.text]
        return Table(self.comparison.name, heads, [*rows_of(shown)], numbers, after=[*filter(None, after)])

    @property
    def data(self) -> dict[str, Any]:
        comparison = self.comparison
        return {
            "name": comparison.name,
            "answer": self.headline.text,
            "baseline": comparison.baseline,
            "stands_in_for": comparison.stands_in_for or None,
            **(ends("noise_floor", comparison.noise.ratio) if comparison.noise else {"noise_floor": None}),
            "stacks": only(self.lines, shown_in("data")).to_dicts(),
        }


class ComparisonsSection(AnswerSection):
    """The comparisons of a set by name."""

    def __init__(self, asked: Asked, context: Context, found: Answer) -> None:
        super().__init__(asked, context, found)
        self.template = "sections/comparisons.html.j2"
        frame = context.frame
        self.stacks = (*(s for s in compared_stacks(frame.analysis) if s != self.baseline), self.baseline)
        self.about = asked.about.format(confidence=units.percent(frame.protocol.confidence))
        lines = found.table.partition_by("question", as_dict=True)
        self.views = [
            ComparisonView(comparison, lines[comparison.name,], headline, frame)
            for comparison, headline in zip(frame.analysis.comparisons, context.headlines, strict=True)
        ]

    @property
    def cause(self) -> MklNote | None:
        return next((note for view in self.views if (note := view.mkl_note)), None)

    def answers(self) -> Iterable[tuple[str, Headline]]:
        return [(view.anchor, view.headline) for view in self.views]

    def tables(self) -> Sequence[Table]:
        """The speedups: a line for each stack, a column for each question. A question file has a table of its own,
        that of the console."""
        single = self.single()
        asked = [view for view in single if view.comparison.head["implementation"]]
        timed = [view for view in single if view.comparison.timed and view not in asked]
        chunks = [timed[first : first + QUESTIONS_ACROSS] for first in range(0, len(timed), QUESTIONS_ACROSS)]
        return [*(view.console for view in asked), *(speedup_table(some, self.stacks) for some in chunks)]

    def console(self) -> Sequence[Table]:
        return [view.console for view in self.single()]

    def single(self) -> list[ComparisonView]:
        """The comparisons that are in no sweep, which has a table of its own."""
        swept = {each.id for sweep in sweeps(view.comparison for view in self.views) for each in sweep.comparisons}
        return [view for view in self.views if view.comparison.id not in swept]

    def lines(self) -> Iterable[Mapping[str, Value]]:
        for line in self.found.table.sort(in_order("question"), in_order("stack")).iter_rows(named=True):
            yield line | {
                "purpose": "timed",
                "baseline": line["baseline"] if line["speedup"] else None,
                "low_seconds": line["median_seconds_low"],
                "high_seconds": line["median_seconds_high"],
            }

    def data(self) -> list[Any]:
        return [view.data for view in self.views]


def order_words(comparison: Comparison) -> str:
    """Returns a sentence on the first two neighbours by median whose ratios, as they are shown, have another order;
    empty if there are none."""
    known = [
        (stack.stack, stack.speedup.ratio if stack.speedup else ITSELF)
        for stack in comparison.timed
        if stack.counts and (stack.speedup or stack.is_baseline)
    ]
    for (upper, ratio), (lower, greater) in pairwise(known):
        shown = [units.ratio(each.value, each.low, each.high) for each in (greater, ratio)]
        if greater.value > ratio.value and shown[0] != shown[1]:
            return (
                f"The order is that of the medians. By ratio {lower} ({shown[0]}) comes before {upper} ({shown[1]}): a "
                "ratio is formed inside each block and then averaged, and medians aren't paired."
            )
    return ""


def speedup_table(views: Sequence[ComparisonView], stacks: Sequence[str]) -> Table:
    """Returns the speedups on some questions for Markdown; the line of the baseline, the last of the `stacks`, has its
    times."""
    comparisons = [view.comparison for view in views]
    names = [f"{each.name} (over {each.baseline})" if each.stands_in_for else each.name for each in comparisons]
    cells = [{line["stack"]: speedup_cell(line, view) for line in view.lines.to_dicts()} for view in views]
    floors = [
        f"{each.name} {units.estimate(each.noise.ratio.value, each.noise.ratio.low, each.noise.ratio.high)}"
        for each in comparisons
        if each.noise
    ]
    return Table(
        f"Speedup over {stacks[-1]}",
        ["stack", *names],
        [
            [stack, *(by.get(stack, units.UNKNOWN) for by in cells)]
            for stack in stacks
            if any(stack in by for by in cells)
        ],
        numbers=names,
        before=[*filter(None, map(standing_in, comparisons))],
        after=[f"Noise floor, a stack over itself: {', '.join(floors)}. {FLOOR_RULE}"] * bool(floors),
    )


def speedup_cell(line: Mapping[str, Any], view: ComparisonView) -> str:
    """Returns `1.42× [1.35, 1.50] faster`. An undecided ratio has its reason first, `undecided (the interval contains
    1×): 1.03× [0.91, 1.18]`; the baseline has its time, and a stack without a time that counts its outcome."""
    note = f" ({line['judged_note']})" if line["judged_note"] else ""
    if not line["counts"]:
        return str(line["judged"])
    if line["speedup"] is None:
        return f"{column_units(view.comparison).steady(line['median_seconds'])}{note}"
    ratio = units.estimate(line["speedup"], line["speedup_low"], line["speedup_high"])
    word = f"{line['judged']}{note}"
    return f"{word}: {ratio}" if line["verdict"] == "undecided" else f"{ratio} {word}"
