"""Result sets: the schema, the files, and paired ratios in a notebook.

>>> results = suite.results.load("results/latest")
>>> results.frame          # every attempt, one row each
>>> results.ratios()       # speedups against the baseline, with intervals and verdicts
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from suite.protocol import Protocol
    from suite.results.plan_file import PlanFile


@dataclass(frozen=True)
class Results:
    """A loaded result set. `rows` are plain dicts; `frame`, `accepted`, `ratios`, `summary` are DataFrames."""

    path: Path
    plan: PlanFile | None = field(repr=False)  # None for a bare Parquet file
    rows: list[dict[str, Any]] = field(repr=False)
    blocks: list[dict[str, Any]] = field(repr=False)
    machine: dict[str, Any] = field(repr=False)
    roofline: dict[str, Any] = field(repr=False, default_factory=dict)

    @property
    def baseline(self) -> str:
        """The stack that the run compared against."""
        if self.plan is not None:
            return self.plan.baseline
        stacks = [row["stack"] for row in self.rows]
        return "torch_eager" if "torch_eager" in stacks or not stacks else str(stacks[0])

    @property
    def protocol(self) -> Protocol:
        """The protocol's constants that were in force; the defaults for a bare Parquet file."""
        from suite.protocol import Protocol

        return Protocol() if self.plan is None else self.plan.protocol

    @property
    def frame(self) -> pd.DataFrame:
        """Every attempt, one row each, with the columns of suite/results/schema.py."""
        import pandas as pd

        from suite.results.schema import NAMES

        return pd.DataFrame(self.rows, columns=list(NAMES))

    @property
    def accepted(self) -> pd.DataFrame:
        """Only the rows that count: the last accepted attempt of each block."""
        import pandas as pd

        from suite.results.schema import NAMES
        from suite.results.store import accepted

        return pd.DataFrame(accepted(self.rows), columns=list(NAMES))

    def ratios(self, baseline: str | None = None, clock: str = "synced") -> pd.DataFrame:
        """Speedups over the baseline: one row per comparison and stack, `value` above 1 is faster."""
        import pandas as pd

        from suite.results.compare import ratios

        found = ratios(self.rows, baseline or self.baseline, self.protocol, clock)
        flat = ({**asdict(c), **asdict(c.ratio), "log_ratios": list(c.log_ratios.values())} for c in found)
        columns = ["name", "stack", "baseline", "value", "low", "high", "verdict", "blocks", "p", "log_ratios"]
        return pd.DataFrame(flat, columns=columns)

    def summary(self, baseline: str | None = None, clock: str = "synced") -> pd.DataFrame:
        """Geometric means over comparisons, with n_ok of n, least and greatest."""
        import pandas as pd

        from suite.results.compare import ratios, summaries

        compared = ratios(self.rows, baseline or self.baseline, self.protocol, clock)
        found = summaries(self.rows, compared, self.protocol)
        flat = ({**asdict(s), **(asdict(s.ratio) if s.ratio else {})} for s in found)
        return pd.DataFrame(flat, columns=["stack", "value", "low", "high", "n_ok", "n", "least", "greatest"])


def load(path: str | Path) -> Results:
    """A result set's folder, or its results.parquet alone. Raises UserError if it is neither."""
    from suite.errors import UserError
    from suite.results.store import ResultSet, read_parquet

    path = Path(path)
    if path.is_file():
        return Results(path, None, read_parquet(path), [], {})
    if not path.is_dir():
        raise UserError(f"There is no result set at {path}. `invoke run` makes one.")
    stored = ResultSet.open(path)
    # Without its manifest a run is under way, or was interrupted.
    rows = read_parquet(stored.results_path) if stored.is_whole else stored.merged()
    blocks = [block.record for block in stored.blocks()]
    return Results(path, stored.plan, rows, blocks, stored.machine, stored.roofline)
