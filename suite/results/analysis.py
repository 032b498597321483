"""The one analysis of a result set, which notebooks, the console and the page show. Pure functions of its rows."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from suite.case import Outcome, Purpose
from suite.errors import unknown
from suite.machine.roofline import Roofline
from suite.protocol import Protocol
from suite.results.baselines import by_side, over_baseline
from suite.results.outcomes import Cell, cell, flag_counts
from suite.results.questions.programs import ProgramQuestion, program_questions
from suite.results.stack_figures import StackFigures, stack_figures
from suite.results.within_set import FieldComparison, field_comparisons
from suite.sets.plan import PlanFile
from suite.sets.rows import NOT_RUN, Row, judged, unrun
from suite.verdicts.geometric_means import Summary
from suite.verdicts.grouping import by_comparison, grouped
from suite.verdicts.names import question_names
from suite.verdicts.pairing import Side
from suite.verdicts.speedups import Pairing
from suite.verdicts.verdicts import Speedup

ITEMS = "items"  # what a step processes, if no plan gives it a name


@dataclass(frozen=True, slots=True)
class Comparison:
    """One question asked of several stacks.

    `stacks` has the figures of the stacks with times: the fastest first, those that don't count last. `cells` has every
    planned stack, by name. `baseline` is the stack that the ratios are over. If the set's baseline has no time that
    counts, another stack stands in for it, and `stands_in_for` is the set's baseline; else it is empty. `head` is one
    of the rows, for the columns that all of them share; `item` is what a step processes (tokens, images, rows). `noise`
    is the ratio of the A/A twin over replicate 1 of its stack; the interval of this ratio is the noise floor.
    `noise_flags` are the twin's flags.
    """

    id: str
    name: str
    head: Row
    item: str
    stacks: tuple[StackFigures, ...]
    cells: tuple[Cell, ...]
    noise: Speedup | None
    noise_flags: tuple[tuple[str, str], ...]
    baseline: str = ""
    stands_in_for: str = ""

    @property
    def cell_of_baseline(self) -> Cell | None:
        """Returns the cell of the set's baseline; None if it wasn't planned for this question."""
        baseline = self.stands_in_for or self.baseline
        return next((cell for cell in self.cells if cell.stack == baseline), None)

    @property
    def untimed(self) -> tuple[Cell, ...]:
        """Returns the cells of the stacks without any time."""
        timed = {figures.stack for figures in self.stacks}
        return tuple(cell for cell in self.cells if cell.stack not in timed)

    def of(self, stack: str) -> StackFigures | None:
        """Returns a stack's figures; None where it has no times."""
        return next((figures for figures in self.stacks if figures.stack == stack), None)


@dataclass(frozen=True)
class Analysis:
    """All results of a set. `rows` has every attempt; `counted` has one row for each planned process: the attempt that
    counts, as `judged` returns it. For a planned process without an attempt that counts, both have a row that says so
    (`not run` or `unsupported`). `summaries` has an entry for each stack but the baseline, `within_set` one for each
    field of the case that has several values in the set. `vary` is the dim whose largest size that fits was searched
    for, within `search_tolerance`; empty without a search.

    `hidden` are the stacks that the reader chose not to see, `hidden_comparisons` the questions; speedups and summaries
    are of these, too.
    """

    rows: tuple[Row, ...]
    counted: tuple[Row, ...]
    baseline: str
    pairing: Pairing
    comparisons: tuple[Comparison, ...]
    within_set: tuple[FieldComparison, ...]
    vary: str
    speedups: tuple[Speedup, ...] = ()
    summaries: tuple[Summary, ...] = ()
    hidden: tuple[str, ...] = ()
    hidden_comparisons: tuple[Comparison, ...] = ()

    @property
    def protocol(self) -> Protocol:
        return self.pairing.protocol

    @property
    def search_tolerance(self) -> float | None:
        return self.protocol.search_tolerance if self.vary else None

    @cached_property
    def programs(self) -> tuple[ProgramQuestion, ...]:
        return program_questions(self.counted)

    @property
    def blocks(self) -> frozenset[int]:
        """Returns the blocks with a row of a timed process."""
        timed = (row for row in self.counted if row["purpose"] == Purpose.TIMED)
        return frozenset(row["block"] for row in timed if row["provenance"] is not None)

    @property
    def is_whole(self) -> bool:
        return not self.hidden and not self.hidden_comparisons

    @property
    def all_comparisons(self) -> tuple[Comparison, ...]:
        """Returns the questions that the geometric means are over: those that are shown, then the hidden ones."""
        return self.comparisons + self.hidden_comparisons

    @property
    def not_run(self) -> int:
        """Returns how many planned processes have no row yet."""
        return sum(row.outcome == NOT_RUN for row in self.counted)

    def over(
        self, baseline: str, stacks: Collection[str], question: str | None = None, families: float = 1.0
    ) -> dict[Side, Speedup]:
        """Returns the speedups of some stacks over another baseline, as `Pairing.over` judges them."""
        return by_side(self.pairing.over(baseline, stacks, question, families))


def analyse(
    rows: Iterable[Row], file: PlanFile | None, protocol: Protocol, baseline: str, roofline: Roofline | None
) -> Analysis:
    """Returns the analysis of a set over one baseline; `roofline` is None if none was measured.

    Raises UserError for a baseline that the set doesn't have.
    """
    attempts = list(rows)
    accepted = judged(attempts)
    missing = unrun(file, accepted)
    stacks = {row.stack_name for row in [*attempts, *missing]}
    if baseline not in stacks:
        raise unknown("stack", baseline, stacks, of="The result set")
    counted = (*accepted, *missing)
    pairing = Pairing.of(counted, protocol)
    return over_baseline(
        Analysis(
            rows=(*attempts, *missing),
            counted=counted,
            baseline=baseline,
            pairing=pairing,
            comparisons=questions(counted, pairing, file, raised(roofline, counted)),
            within_set=field_comparisons(counted, protocol),
            vary=file.plan.vary if file else "",
        ),
        pairing,
        baseline,
    )


def questions(
    counted: Sequence[Row], pairing: Pairing, file: PlanFile | None, roofline: Roofline | None
) -> tuple[Comparison, ...]:
    """Returns every planned question, sorted by name, without ratios; `counted` has one row for each planned
    process."""
    groups = grouped((row for row in counted if row["purpose"] == Purpose.TIMED), by_comparison)
    names = question_names([group[0] for group in groups.values()])
    kernels = {row["case_id"]: row.kernels for row in counted if row["purpose"] == Purpose.EXPLAIN}
    twins = {twin.comparison_id: twin for twin in pairing.twins()}
    items = file.units if file else {}
    cores = len(file.cores) if file else 0  # whose roof was measured
    asked = []
    for question, rows in groups.items():
        by_stack = grouped(rows, lambda row: row.stack_name)
        figures = [
            stack_figures(
                processes,
                roofline if processes[0]["target"] != "cpu" or cores in (0, processes[0]["threads"]) else None,
                pairing.protocol,
                kernels.get(processes[0]["case_id"], ""),
            )
            for processes in by_stack.values()
            if any(row.samples() for row in processes)
        ]
        asked.append(
            Comparison(
                id=question,
                name=names[question],
                head=rows[0],
                item=items.get(rows[0].text("workload"), ITEMS),
                stacks=tuple(sorted(figures, key=lambda stack: (not stack.counts, stack.median.value, stack.stack))),
                cells=tuple(cell(stack, processes) for stack, processes in sorted(by_stack.items())),
                noise=twins.get(question),
                noise_flags=flag_counts([row for row in rows if row["replicate"] > 1]),
            )
        )
    return tuple(sorted(asked, key=lambda comparison: comparison.name))


def raised(measured: Roofline | None, rows: Iterable[Row]) -> Roofline | None:
    """Returns the measured roofline, raised for each precision to the fastest row that exceeds it; None if none was
    measured. Rows with flags are left out: a step that skipped work would raise the roofline to its own false speed."""
    if measured is None:
        return None
    flops = dict(measured.flops_per_second)
    for row in rows:
        precision, work, seconds = row.text("precision"), row.number("flops"), row.median()
        if row.outcome == Outcome.OK and not row.flags and precision in flops and work and seconds:
            flops[precision] = max(flops[precision], work / seconds)
    return replace(measured, flops_per_second=flops)
