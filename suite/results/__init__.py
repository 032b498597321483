"""A set's figures: the one analysis that a notebook, the console and the page share.

>>> results = suite.results.load("results/latest")
>>> results.frame          # every attempt, one row each; frames are polars', `.to_pandas()` makes them pandas'
>>> results.stacks()       # every stack on every question: times, speedup, verdict
>>> results.ratios()       # speedups against the baseline, with intervals and verdicts
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

    from suite.machine.roofline import Roofline
    from suite.protocol import Protocol
    from suite.results.analysis import Analysis
    from suite.sets.plan import Plan, PlanFile
    from suite.sets.rows import Row


@dataclass(frozen=True)
class Results:
    """A loaded result set. `rows` has a row for each attempt; `frame`, `accepted`, `stacks()`, `ratios()` and
    `summary()` are DataFrames."""

    path: Path
    plan_file: PlanFile | None = field(repr=False)  # None for a bare Parquet file
    rows: list[Row] = field(repr=False)
    blocks: list[dict[str, Any]] = field(repr=False)
    machine: dict[str, Any] = field(repr=False)
    roofline: dict[str, Any] = field(repr=False, default_factory=dict)
    ceilings: list[dict[str, Any]] = field(repr=False, default_factory=list)

    @property
    def plan(self) -> Plan | None:
        """Returns the run's plan; None for a bare Parquet file."""
        return self.plan_file.plan if self.plan_file else None

    @property
    def set_id(self) -> str:
        """Returns the set's id; for a bare Parquet file, the file's name without its ending."""
        return self.plan.set_id if self.plan else self.path.stem

    @property
    def described_machine(self) -> str:
        """Returns a description of the machine in one line, with its float32 ceiling at the start of the run; empty if
        the machine isn't known."""
        from suite.machine.description import describe

        return describe(self.machine, self.ceilings[0] if self.ceilings else None) if self.machine else ""

    @property
    def baseline(self) -> str:
        """Returns the stack that the run compared against. A bare Parquet file doesn't name it: there it is a stack
        that has an A/A twin, as only a baseline has, or else the first stack. Empty if there are no rows."""
        if self.plan is not None:
            return self.plan.baseline
        twins = [row.stack_name for row in self.rows if row["replicate"] > 1]
        return next(iter([*twins, *(row.stack_name for row in self.rows)]), "")

    @property
    def protocol(self) -> Protocol:
        """Returns the protocol that the run followed; for a bare Parquet file, which doesn't say, the default
        protocol."""
        from suite.protocol import Protocol

        return Protocol() if self.plan is None else self.plan.protocol

    @property
    def frame(self) -> pl.DataFrame:
        """Returns every attempt, one row each, with the columns of suite/sets/schema.py."""
        from suite.results.frame import attempts

        return attempts(self.rows)

    @property
    def accepted(self) -> pl.DataFrame:
        """Returns only the rows that count: the last accepted attempt of each block."""
        from suite.results.frame import attempts
        from suite.sets.rows import accepted

        return attempts(accepted(self.rows))

    @property
    def roof(self) -> Roofline | None:
        """Returns the roofline of the set's machine: a CPU's was measured, an accelerator's is what its maker
        publishes."""
        from suite.case import Purpose
        from suite.machine.roofline import Roofline
        from suite.results.limits import roof_of

        measured = Roofline.of(self.roofline, self.ceilings)
        roofs = (roof_of(row, measured)[0] for row in self.rows if row["purpose"] == Purpose.TIMED)
        return next(filter(None, roofs), measured)

    def analysis(
        self, baseline: str | None = None, stacks: Sequence[str] = (), questions: Sequence[str] = ()
    ) -> Analysis:
        """Returns everything that the page shows, as plain values. `stacks` and `questions` are globs; without globs
        the analysis has all of them. Raises UserError for a baseline, a stack or a question that the set lacks."""
        from suite.errors import UserError
        from suite.results.analysis import analyse
        from suite.results.shown import only

        if not self.rows and not (self.plan_file and self.plan_file.attempts):
            raise UserError(f"{self.path} has neither a plan nor a row: there is nothing to report.")
        whole = analyse(self.rows, self.plan_file, self.protocol, baseline or self.baseline, self.roof, self.baseline)
        return only(whole, stacks, questions) if stacks or questions else whole

    def stacks(self, baseline: str | None = None) -> pl.DataFrame:
        """Returns one row for each question and stack, with the columns of the page's tables."""
        from suite.results.frame import Frame

        return Frame(self, self.analysis(baseline)).stacks

    def ratios(self, baseline: str | None = None, clock: str = "synced") -> pl.DataFrame:
        """Returns the speedups over the baseline, one row for each question and stack, with the columns of
        suite/results/ratios.py; a `value` above 1 is faster.

        Raises UserError for a baseline that the set lacks, and for an unknown clock.
        """
        from suite.results.ratios import ratios

        return ratios(self.by(baseline, clock))

    def summary(self, baseline: str | None = None, clock: str = "synced") -> pl.DataFrame:
        """Returns the geometric means of the ratios, with the columns of the page's section "Summary": one row for each
        stack, over all questions and over those of each track, number of cores, pass and precision. Raises UserError
        for a baseline that the set lacks, and for an unknown clock."""
        from suite.results.means import means

        return means(self.by(baseline, clock))

    def by(self, baseline: str | None, clock: str) -> Analysis:
        """Returns the analysis over a baseline by a clock."""
        from suite.errors import UserError
        from suite.results.baselines import rebased
        from suite.sets.rows import check_clock

        check_clock(clock)
        analysis = self.analysis(baseline)
        if not analysis.comparisons:
            raise UserError("No process of this set is timed, so it has no ratios.")
        return rebased(analysis, analysis.baseline, clock)


def load(path: str | Path) -> Results:
    """Returns the results in a set's folder, or in a bare results.parquet. Raises UserError if `path` is neither."""
    from suite.errors import COMMAND, UserError
    from suite.sets.parquet import read_rows
    from suite.sets.result_set import ResultSet
    from suite.sets.withdrawn import corrected

    path = Path(path)
    if path.is_file():
        return Results(path, None, read_rows(path), [], {})
    if not path.is_dir():
        raise UserError(f"There is no result set at {path}. `{COMMAND} run` makes one.")
    stored = ResultSet.open(path)
    blocks = [block.record for block in stored.blocks()]
    file = stored.plan_file
    ceilings = corrected(file.plan.set_id, stored.ceilings)
    return Results(path, file, stored.rows(), blocks, stored.machine, stored.roofline, ceilings)
