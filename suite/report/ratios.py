"""The comparisons of a result set as the report asks for them. All statistics are suite.results.compare's."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from suite.protocol import Protocol
from suite.results import compare
from suite.results.schema import Row as RawRow
from suite.results.store import accepted
from suite.stats import ratio_of

OK, WRONG = "ok", "wrong"


@dataclass(frozen=True, slots=True)
class Estimate:
    """A value with its interval, where it has one."""

    value: float | None
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True, slots=True)
class Speedup:
    """t_versus / t_stack over `blocks` paired blocks: above 1, `stack` is faster. One block has no interval."""

    stack: str
    versus: str
    ratio: float
    low: float | None
    high: float | None
    verdict: str
    blocks: int


@dataclass(frozen=True, slots=True)
class Mean:
    """A stack's geometric mean speedup over `ok` comparisons, and the least and greatest of them."""

    stack: str
    mean: Estimate
    ok: int
    least: float
    greatest: float


class Ratios:
    """Every ratio of a set against one baseline, and on demand against another stack."""

    def __init__(self, rows: Iterable[RawRow], baseline: str, protocol: Protocol) -> None:
        self.protocol = protocol
        self.baseline = baseline
        self.rows = without_wrong(rows)
        self.compared = self._against(baseline, self.rows)
        self._own = {(c.comparison_id, c.stack): _speedup(c) for c in self.compared}
        twins = compare.twins(self.rows, protocol)
        self._twins = {c.comparison_id: _speedup(c) for c in twins}

    def _against(self, baseline: str, rows: Sequence[RawRow]) -> list[compare.Comparison]:
        # compare refuses a baseline without a row; here it may be planned and never have been reached.
        present = {compare.stack_name(row) for row in compare.counting(rows)}
        return compare.ratios(rows, baseline, self.protocol) if baseline in present else []

    @property
    def family(self) -> int:
        """How many ratios against the baseline the set has: the family of the Holm adjustment."""
        return len(self.compared)

    def speedup(self, comparison: str, stack: str) -> Speedup | None:
        """A stack over the baseline on one question; None where no block has both `ok`."""
        return self._own.get((comparison, stack))

    def noise(self, comparison: str) -> Speedup | None:
        """The A/A twin of one question against itself."""
        return self._twins.get(comparison)

    def between(self, baseline: str, stacks: Iterable[str], comparison: str | None = None) -> list[compare.Comparison]:
        """Some stacks over another baseline, a family of their own; of one question or of all."""
        names = {baseline, *stacks}
        rows = [
            row for row in self.rows if compare.stack_name(row) in names and comparison in (None, row["comparison_id"])
        ]
        return self._against(baseline, rows)

    def pairs(
        self, baseline: str, stacks: Iterable[str], comparison: str | None = None
    ) -> dict[tuple[str, str], Speedup]:
        """`between` by (comparison_id, stack)."""
        return {(c.comparison_id, c.stack): _speedup(c) for c in self.between(baseline, stacks, comparison)}

    def means(self) -> list[Mean]:
        """Geometric means over the questions, greatest first."""
        if not self.compared:
            return []
        found = []
        for s in compare.summaries(self.rows, self.compared, self.protocol):
            if s.ratio is not None and s.least is not None and s.greatest is not None:
                mean = Estimate(s.ratio.value, s.ratio.low, s.ratio.high)
                found.append(Mean(s.stack, mean, s.n_ok, s.least, s.greatest))
        return found

    def typical(self, medians: Sequence[float]) -> Estimate:
        """The geometric mean of processes' medians (seconds), with its t interval from two processes on."""
        if not medians:
            return Estimate(None)
        freedom = min(self.protocol.blocks, len(medians)) - 1
        ratio = ratio_of([math.log(m) for m in medians], freedom, self.protocol.confidence)
        return Estimate(ratio.value, ratio.low, ratio.high)


def without_wrong(rows: Iterable[RawRow]) -> list[RawRow]:
    """The rows, every `ok` one of a case that failed the gate anywhere made `wrong`.

    Only one process of a case runs the whole gate; what it finds holds for the times of all of them.
    """
    listed = list(rows)
    wrong = {row["case_id"] for row in accepted(listed) if row["outcome"] == WRONG}
    return [row | {"outcome": WRONG} if row["case_id"] in wrong and row["outcome"] == OK else row for row in listed]


def _speedup(c: compare.Comparison) -> Speedup:
    return Speedup(c.stack, c.baseline, c.ratio.value, c.ratio.low, c.ratio.high, str(c.verdict), c.ratio.blocks)
