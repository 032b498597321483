"""Rows of a result set as plain typed values, and the planned attempts that have none."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from suite.results.compare import samples, stack_name
from suite.results.plan_file import PlanFile
from suite.results.schema import empty_row

NOT_RUN = "not run"  # the outcome of a planned attempt that has no row


@dataclass(frozen=True, slots=True)
class Row:
    """One attempt, its columns by name with None for unknown."""

    fields: dict[str, Any]

    def text(self, name: str) -> str:
        """A column as text; empty where unknown."""
        value = self.fields.get(name)
        return "" if value is None else str(value)

    def number(self, name: str) -> float | None:
        """A column as a float; None where unknown."""
        value = self.fields.get(name)
        return None if value is None or not math.isfinite(value) else float(value)

    def integer(self, name: str) -> int:
        """A column that is never null, as an int."""
        return int(self.fields[name])

    def mapping(self, name: str) -> Mapping[str, Any]:
        """A JSON column; empty where unknown or not an object."""
        value = self.fields.get(name)
        loaded = json.loads(value or "{}") if isinstance(value, str | None) else value
        return loaded if isinstance(loaded, dict) else {}

    @property
    def median(self) -> float:
        """The median of the steady samples, of which there must be some."""
        return median(self.steady)

    @property
    def flags(self) -> tuple[str, ...]:
        """What a reader must know about this row."""
        return tuple(self.fields.get("flags") or ())

    @property
    def stack(self) -> str:
        """`jax_jit`, or `jax_jit@nightly` for a variant."""
        return stack_name(self.fields)

    @property
    def outcome(self) -> str:
        """How the attempt ended."""
        return self.text("outcome")

    @property
    def steady(self) -> Sequence[float]:
        """Synced samples, in seconds, without the warm-up."""
        return samples(self.fields, "synced") if self.fields.get("synced_seconds") else ()

    @property
    def place(self) -> tuple[str, int, int, str]:
        """(case_id, block, replicate, purpose): what every attempt at one planned process shares."""
        return (self.text("case_id"), self.integer("block"), self.integer("replicate"), self.text("purpose"))


def unrun(plan: PlanFile | None, rows: Iterable[Row]) -> tuple[Row, ...]:
    """A row for every planned attempt that has none in `rows`: unsupported by the plan, or not run."""
    present = {row.place for row in rows}
    made: dict[tuple[str, int, int, str], Row] = {}
    for attempt in plan.attempts if plan else ():
        reason = plan.reason(attempt.case) if plan else None
        row = Row(
            empty_row(attempt)
            | {
                "outcome": "unsupported" if reason else NOT_RUN,
                "reason": reason or "No complete block has this process. Resume the set to run it.",
                "provenance": None,
            }
        )
        if row.place not in present:
            made.setdefault(row.place, row)
    return tuple(made.values())


def middle(values: Iterable[float | None]) -> float | None:
    """The median of what is known; None where nothing is."""
    known = [v for v in values if v is not None and math.isfinite(v)]
    return median(known) if known else None


def flag_counts(rows: Sequence[Row]) -> tuple[tuple[str, str], ...]:
    """Each flag with the share of processes that have it, `2/5`; empty where all of them do."""
    names = sorted({flag for r in rows for flag in r.flags})
    counts = {name: sum(name in r.flags for r in rows) for name in names}
    return tuple((name, "" if n == len(rows) else f"{n}/{len(rows)}") for name, n in counts.items())
