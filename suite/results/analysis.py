"""The one analysis of a result set, which notebooks, the console and the page show. Pure functions of its rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from suite.case import Outcome, Purpose
from suite.errors import unknown
from suite.machine.roofline import Roofline
from suite.order import natural
from suite.protocol import Protocol
from suite.results.baselines import over_baseline
from suite.results.case_row import CaseRow, case_row
from suite.results.outcomes import flag_counts
from suite.results.questions.programs import ProgramQuestion, program_questions
from suite.results.within_set import FieldComparison, field_comparisons
from suite.sets.plan import PlanFile
from suite.sets.rows import NOT_RUN, Row, counted, unrun
from suite.verdicts.geometric_means import Summary, summaries
from suite.verdicts.grouping import by_comparison, grouped
from suite.verdicts.leads import Behind, leaders
from suite.verdicts.names import question_names
from suite.verdicts.speedups import Pairing
from suite.verdicts.verdicts import Speedup

ITEMS = "items"  # what a step processes, if no plan gives it a name
GROUPED = ("track", "threads", "pass", "precision")  # questions that differ in one of these have means of their own
REPEATED = ("track", "threads")  # questions that differ in these alone are one question asked twice


@dataclass(frozen=True, slots=True)
class Comparison:
    """One question asked of several stacks.

    `cases` has every planned stack: the fastest first, then those whose times don't count, and those without any by
    name. `baseline` is the stack that the ratios are over. If the set's baseline has no time that counts, another stack
    stands in for it, and `stands_in_for` is the set's baseline; else it is empty. `head` is one of the rows, for the
    columns that all of them share; `item` is what a step processes (tokens, images, rows). `noise` is the ratio of the
    A/A twin over replicate 1 of its stack; the interval of this ratio is the noise floor. `noise_flags` are the twin's
    flags. `behind` has the pairs of stacks of which the first is shown to be slower.
    """

    id: str
    name: str
    head: Row
    item: str
    cases: tuple[CaseRow, ...]
    noise: Speedup | None
    noise_flags: tuple[tuple[str, str], ...]
    baseline: str = ""
    stands_in_for: str = ""
    behind: Behind = frozenset()

    @property
    def timed(self) -> tuple[CaseRow, ...]:
        """Returns the cases with a steady time."""
        return tuple(case for case in self.cases if case.is_timed)

    @property
    def counting(self) -> tuple[CaseRow, ...]:
        """Returns the cases with times that count, the lowest median first."""
        return tuple(case for case in self.timed if case.counts)

    @property
    def leaders(self) -> tuple[str, ...]:
        """Returns the stacks that lead: no other is shown to be faster. The lowest median comes first."""
        return leaders([case.stack for case in self.counting], self.behind)

    def of(self, stack: str) -> CaseRow | None:
        """Returns a stack's case; None if it wasn't planned."""
        return next((case for case in self.cases if case.stack == stack), None)


@dataclass(frozen=True)
class Analysis:
    """All results of a set. `rows` has every attempt; `counted` has one row for each planned process: the attempt that
    counts, as `counted` returns it. For a planned process without an attempt that counts, both have a row that says so
    (`not run` or `unsupported`). `within_set` has an entry for each field of the case that has several values in the
    set. `vary` is the dim whose largest size that fits was searched
    for, within `search_tolerance`; empty without a search.

    `speedups` are over each question's own baseline, without those over a stand-in. `hidden` are the stacks that the
    reader chose not to see, `hidden_comparisons` the questions; speedups are of these, too.
    """

    rows: tuple[Row, ...]
    counted: tuple[Row, ...]
    baseline: str
    pairing: Pairing
    comparisons: tuple[Comparison, ...]
    within_set: tuple[FieldComparison, ...]
    vary: str
    speedups: tuple[Speedup, ...] = ()
    hidden: tuple[str, ...] = ()
    hidden_comparisons: tuple[Comparison, ...] = ()

    @property
    def protocol(self) -> Protocol:
        return self.pairing.protocol

    @property
    def baseline_words(self) -> str:
        """Returns the baseline's name, without a function where the questions have counterparts of it."""
        over = {each.stands_in_for or each.baseline for each in self.comparisons}
        return self.baseline if over <= {self.baseline} else self.baseline.partition(":")[0]

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
    def is_decided(self) -> bool:
        """Whether the set has the second block that intervals and verdicts take."""
        return len(self.blocks) > 1

    @property
    def is_whole(self) -> bool:
        return not self.hidden and not self.hidden_comparisons

    @property
    def all_comparisons(self) -> tuple[Comparison, ...]:
        """Returns the questions that the geometric means are over: those that are shown, then the hidden ones."""
        return self.comparisons + self.hidden_comparisons

    @property
    def by_name(self) -> list[Comparison]:
        return sorted(self.all_comparisons, key=by_name)

    def means(self, fields: Mapping[str, str] | None = None) -> tuple[Summary, ...]:
        """Returns each shown stack's geometric mean over all questions, or over those whose columns have these values:
        {"pass": "train"}, say. Ratios over a stand-in enter none."""
        asked = [each for each in self.by_name if is_of(each.head, fields or {})]
        questions = [each.id for each in asked if (case := each.of(self.baseline)) and case.counts]
        others = sorted({case.stack for each in asked for case in each.cases} - {self.baseline})
        return tuple(summaries(self.speedups, others, questions, self.protocol)) if questions else ()

    def groups(self, fields: Mapping[str, str] | None = None) -> tuple[dict[str, str], ...]:
        """Returns the groups of questions that have means of their own, as the values of their columns: all questions
        whose columns have the values of `fields`, and those of each track, number of cores, pass and precision where
        these differ. A group has two questions or more, and none twice: not on two tracks, nor on two numbers of cores.
        """
        heads = [each.head for each in self.by_name if is_of(each.head, fields or {})]
        varying = [name for name in GROUPED if len({head.text(name) for head in heads}) > 1]
        times = Counter(tuple(head.text(name) for name in varying) for head in heads)
        several = [dict(zip(varying, values, strict=True)) for values, count in times.items() if count > 1]
        every: list[dict[str, str]] = [] if len(heads) < 2 or {*varying} & {*REPEATED} else [{}]
        return (*every, *(several if varying else ()))

    @property
    def not_run(self) -> int:
        """Returns how many planned processes have no row yet."""
        return sum(row.outcome == NOT_RUN for row in self.counted)


def analyse(
    rows: Iterable[Row],
    file: PlanFile | None,
    protocol: Protocol,
    baseline: str,
    roofline: Roofline | None,
    planned: str = "",
) -> Analysis:
    """Returns the analysis of a set over one baseline; `roofline` is None if none was measured. `planned` is the
    baseline that the run was planned with, if that is another.

    Raises UserError for a baseline that the set doesn't have.
    """
    attempts = list(rows)
    kept = counted(attempts)
    missing = unrun(file, kept)
    stacks = {row.stack_name for row in [*attempts, *missing]}
    if baseline not in stacks:
        raise unknown("stack", baseline, stacks, of="The result set")
    every = (*kept, *missing)
    pairing = Pairing.of(every, protocol, planned or baseline)
    return over_baseline(
        Analysis(
            rows=(*attempts, *missing),
            counted=every,
            baseline=baseline,
            pairing=pairing,
            comparisons=questions(every, pairing, file, raised(roofline, every)),
            within_set=field_comparisons(every, protocol),
            vary=file.plan.vary if file else "",
        ),
        pairing,
        baseline,
    )


def is_of(head: Row, fields: Mapping[str, str]) -> bool:
    """Whether a question's columns have these values."""
    return all(head.text(name) == value for name, value in fields.items())


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
        cases = [
            case_row(
                processes,
                roofline if processes[0]["target"] != "cpu" or cores in (0, processes[0]["threads"]) else None,
                pairing.protocol,
                kernels.get(processes[0]["case_id"], ""),
            )
            for processes in by_stack.values()
        ]
        asked.append(
            Comparison(
                id=question,
                name=names[question],
                head=rows[0],
                item=items.get(rows[0].text("workload"), ITEMS),
                cases=tuple(sorted(cases, key=order)),
                noise=twins.get(question),
                noise_flags=flag_counts([row for row in rows if row["replicate"] > 1]),
            )
        )
    return tuple(sorted(asked, key=by_name))


def by_name(comparison: Comparison) -> str:
    return natural(comparison.name)


def order(case: CaseRow) -> tuple[bool, bool, float, str]:
    return not case.is_timed, case.is_timed and not case.counts, case.median_seconds or 0.0, case.stack


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
