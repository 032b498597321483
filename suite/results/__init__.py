"""Result sets: the schema, the files, and the one analysis that a notebook, the console and the page share.

>>> results = suite.results.load("results/latest")
>>> results.frame          # every attempt, one row each
>>> results.stacks()       # every stack on every question: times, speedup, verdict
>>> results.ratios()       # speedups against the baseline, with intervals and verdicts
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from suite.protocol import Protocol
    from suite.results.analysis import Analysis
    from suite.results.stack_figures import StackFigures
    from suite.results.store.plan_file import PlanFile
    from suite.results.store.rows import Row

RATIO_COLUMNS = (
    "name",
    "stack",
    "baseline",
    "value",
    "low",
    "high",
    "verdict",
    "blocks",
    "p",
    "log_ratios",
    "best",
    "reason",
)
SUMMARY_COLUMNS = (
    "stack",
    "value",
    "low",
    "high",
    "n_ok",
    "n",
    "least",
    "greatest",
    "common",
    "common_low",
    "common_high",
    "n_common",
)
STACK_COLUMNS = (
    "comparison",
    "stack",
    "outcome",
    "reason",
    "ok",
    "planned",
    "first_seconds",
    "second_seconds",
    "average_seconds",
    "median_seconds",
    "low_seconds",
    "high_seconds",
    "p5_seconds",
    "p95_seconds",
    "dispatch_seconds",
    "pipelined_seconds",
    "fetch_seconds",
    "items_per_second",
    "item",
    "efficiency",
    "baseline",
    "speedup",
    "speedup_low",
    "speedup_high",
    "verdict",
    "verdict_reason",
    "two_modes",
    "best_seconds",
    "spread",
    "kernels",
)


@dataclass(frozen=True)
class Results:
    """A loaded result set. `rows` are attempts; `frame`, `accepted`, `stacks`, `ratios`, `summary` are DataFrames."""

    path: Path
    plan: PlanFile | None = field(repr=False)  # None for a bare Parquet file
    rows: list[Row] = field(repr=False)
    blocks: list[dict[str, Any]] = field(repr=False)
    machine: dict[str, Any] = field(repr=False)
    roofline: dict[str, Any] = field(repr=False, default_factory=dict)
    ceilings: list[dict[str, Any]] = field(repr=False, default_factory=list)

    @property
    def described_machine(self) -> str:
        """The machine in one line, with the ceiling that it had when the set was begun; empty where none is known."""
        from suite.machine.description import describe

        return describe(self.machine, self.ceilings[0] if self.ceilings else None) if self.machine else ""

    @property
    def baseline(self) -> str:
        """The stack that the run compared against."""
        if self.plan is not None:
            return self.plan.baseline
        stacks = [row.stack_name for row in self.rows]
        return "torch_eager" if "torch_eager" in stacks or not stacks else stacks[0]

    @property
    def protocol(self) -> Protocol:
        """The protocol's constants that were in force; the defaults for a bare Parquet file."""
        from suite.protocol import Protocol

        return Protocol() if self.plan is None else self.plan.protocol

    @property
    def frame(self) -> pd.DataFrame:
        """Every attempt, one row each, with the columns of suite/results/store/schema.py."""
        from suite.results.store.schema import NAMES

        return table(self.rows, NAMES)

    @property
    def accepted(self) -> pd.DataFrame:
        """Only the rows that count: the last accepted attempt of each block."""
        from suite.results.store.rows import accepted
        from suite.results.store.schema import NAMES

        return table(accepted(self.rows), NAMES)

    def analysis(self, baseline: str | None = None) -> Analysis:
        """Everything that the page shows, as plain values. Raises UserError for a baseline that the set lacks."""
        from suite.errors import UserError
        from suite.machine.roofline import Roofline
        from suite.results.analysis import analyse

        if not self.rows and not (self.plan and self.plan.attempts):
            raise UserError(f"{self.path} has neither a plan nor a row: there is nothing to report.")
        roofline = Roofline.of(self.roofline, self.ceilings)
        return analyse(self.rows, self.plan, self.protocol, baseline or self.baseline, roofline)

    def stacks(self, baseline: str | None = None) -> pd.DataFrame:
        """One row for each question and stack, as in the page's tables; `comparison` is called as there."""
        comparisons = self.analysis(baseline).comparisons
        lines = [
            {
                "comparison": comparison.name,
                "item": comparison.item,
                "stack": cell.stack,
                "outcome": cell.outcome,
                "reason": cell.reason,
                "ok": cell.ok,
                "planned": cell.total,
                **stack_line(comparison.of(cell.stack)),
            }
            for comparison in comparisons
            for cell in comparison.cells
        ]
        return table(lines, STACK_COLUMNS)

    def ratios(self, baseline: str | None = None, clock: str = "synced") -> pd.DataFrame:
        """Speedups over the baseline: one row per comparison and stack, `value` above 1 is faster.

        Raises UserError for a baseline that the set lacks, and for a clock that there isn't.
        """
        from suite.results.speedup.verdicts import ratios

        speedups = ratios(self.rows, baseline or self.baseline, self.protocol, clock)
        lines = (
            {**asdict(s), **asdict(s.ratio), "log_ratios": list(s.log_ratios.values()), "best": s.best and s.best.value}
            for s in speedups
        )
        return table(lines, RATIO_COLUMNS)

    def summary(self, baseline: str | None = None, clock: str = "synced") -> pd.DataFrame:
        """Geometric means over comparisons, with n_ok of n, least and greatest; `common` is over the questions that all
        stacks answered, and ranks them. Raises as `ratios` does."""
        from suite.results.speedup.geometric_means import summaries
        from suite.results.speedup.verdicts import ratios
        from suite.results.store.rows import accepted, unrun

        speedups = ratios(self.rows, baseline or self.baseline, self.protocol, clock)
        planned = [*self.rows, *unrun(self.plan, accepted(self.rows))]
        lines = (
            {
                "stack": s.stack,
                "n_ok": s.n_ok,
                "n": s.n,
                **(asdict(s.ratio) if s.ratio else {}),
                "least": s.least and s.least.ratio.value,
                "greatest": s.greatest and s.greatest.ratio.value,
                "n_common": s.n_common,
                "common": s.common and s.common.value,
                "common_low": s.common and s.common.low,
                "common_high": s.common and s.common.high,
            }
            for s in summaries(planned, speedups, self.protocol)
        )
        return table(lines, SUMMARY_COLUMNS)


def stack_line(figures: StackFigures | None) -> dict[str, Any]:
    """The times of a stack as columns; nothing where it has none."""
    if figures is None:
        return {}
    speedup = figures.speedup
    ratio = (
        {
            "baseline": speedup.baseline,
            "speedup": speedup.ratio.value,
            "speedup_low": speedup.ratio.low,
            "speedup_high": speedup.ratio.high,
            "verdict": speedup.verdict,
            "verdict_reason": speedup.reason,
        }
        if speedup
        else {}
    )
    return ratio | {
        "first_seconds": figures.first,
        "second_seconds": figures.second,
        "average_seconds": figures.average,
        "median_seconds": figures.median.value,
        "low_seconds": figures.median.low,
        "high_seconds": figures.median.high,
        "p5_seconds": figures.p5,
        "p95_seconds": figures.p95,
        "dispatch_seconds": figures.dispatch,
        "pipelined_seconds": figures.pipelined,
        "fetch_seconds": figures.fetch,
        "items_per_second": figures.items_per_second,
        "efficiency": figures.efficiency,
        "two_modes": figures.has_modes,
        "best_seconds": figures.best,
        "spread": figures.spread,
        "kernels": figures.kernels or None,
    }


def table(lines: Iterable[dict[str, Any]], columns: Iterable[str]) -> pd.DataFrame:
    """A DataFrame of these columns."""
    import pandas as pd

    return pd.DataFrame([dict(line) for line in lines], columns=list(columns))


def load(path: str | Path) -> Results:
    """A result set's folder, or its results.parquet alone. Raises UserError if it is neither."""
    from suite.errors import COMMAND, UserError
    from suite.results.store.parquet.reader import read_parquet
    from suite.results.store.result_set import ResultSet

    path = Path(path)
    if path.is_file():
        return Results(path, None, read_parquet(path), [], {})
    if not path.is_dir():
        raise UserError(f"There is no result set at {path}. `{COMMAND} run` makes one.")
    stored = ResultSet.open(path)
    # Without its manifest a run is under way, or was interrupted.
    rows = read_parquet(stored.results_path) if stored.is_whole else stored.merged()
    blocks = [block.record for block in stored.blocks()]
    return Results(path, stored.plan, rows, blocks, stored.machine, stored.roofline, stored.ceilings)
