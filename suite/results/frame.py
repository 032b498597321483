"""A set as tables: what answers are computed from, in a notebook, too."""

from __future__ import annotations

import os
import signal
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import polars as pl

from suite.case import Outcome, Purpose
from suite.machine.roofline import Roofline
from suite.protocol import Protocol
from suite.results import Results
from suite.results.analysis import Analysis, Comparison, raised
from suite.results.names import question_names
from suite.results.outcomes import Cell, outcome_text
from suite.results.questions.grouping import grouped
from suite.results.ranking import ranked_stacks
from suite.results.stack_figures import StackFigures, middle
from suite.sets.rows import Row
from suite.sets.schema import SCHEMA
from suite.stats import Estimate

# What polars does to the process that imports it: a variable that measured processes must not have, and system calls
# are restarted after Ctrl-C, so that a wait for another process would never be interrupted.
os.environ.pop("_RJEM_MALLOC_CONF", None)
signal.siginterrupt(signal.SIGINT, True)  # noqa: FBT003  # it has no keyword

FIGURES = {
    "first_seconds": "first",
    "second_seconds": "second",
    "average_seconds": "average",
    "p5_seconds": "p5",
    "p95_seconds": "p95",
    "outliers": "outliers",
    "dispatch_seconds": "dispatch",
    "pipelined_seconds": "pipelined",
    "fetch_seconds": "fetch",
    "early": "early",
    "gain": "gain",
    "copies": "copies",
    "items_per_second": "items_per_second",
    "efficiency": "efficiency",
    "compile_seconds": "compile",
    "graph_breaks": "graph_breaks",
    "cores": "cores",
    "page_faults": "faults",
    "peak_bytes": "peak_bytes",
    "relative_error": "relative_error",
    "tolerance": "tolerance",
    "result_types": "result_types",
    "precision_observed": "precision_observed",
    "two_modes": "has_modes",
    "best_seconds": "best",
    "spread": "spread",
    "kernels": "kernels",
}  # {column: the field of StackFigures}
TYPES: dict[str, Any] = {
    **dict.fromkeys(FIGURES, pl.Float64),
    **dict.fromkeys(("result_types", "precision_observed", "kernels", "question", "question_id", "stack"), pl.String),
    **dict.fromkeys(("outcome", "phase", "ended", "reason", "baseline", "verdict", "why"), pl.String),
    **dict.fromkeys(("median_seconds", "speedup", "peak_ended_bytes"), pl.Float64),
    **dict.fromkeys(("median_seconds_low", "median_seconds_high", "speedup_low", "speedup_high"), pl.Float64),
    "copies": pl.List(pl.Float64),
    "two_modes": pl.Boolean,
    "counts": pl.Boolean,
    "ok": pl.Int64,
    "planned": pl.Int64,
}


@dataclass(frozen=True)
class Frame:
    """The tables of a set over one baseline."""

    results: Results
    analysis: Analysis

    @property
    def protocol(self) -> Protocol:
        return self.analysis.protocol

    @cached_property
    def roofline(self) -> Roofline | None:
        """What the machine was measured to reach; None if nobody measured it."""
        measured = Roofline.of(self.results.roofline, self.results.ceilings)
        return raised(measured, self.analysis.counted)

    @cached_property
    def stacks(self) -> pl.DataFrame:
        """Every planned stack of every question: the fastest of a question first, those without times last. Times of a
        stack without a steady time are medians over the processes that came so far."""
        timed = [row for row in self.analysis.counted if row["purpose"] == Purpose.TIMED and row["replicate"] == 1]
        rows = grouped(timed, lambda row: (row.text("comparison_id"), row.stack_name))
        lines = [
            line(comparison, cell, comparison.of(cell.stack), rows.get((comparison.id, cell.stack), []))
            for comparison in self.analysis.comparisons
            for cell in [*(figures.cell for figures in comparison.stacks), *comparison.untimed]
        ]
        return pl.DataFrame(lines, schema=TYPES)

    @cached_property
    def ranked(self) -> tuple[str, ...]:
        """All stacks, in the order of the map's columns: the greatest geometric mean first."""
        return ranked_stacks(self.analysis)

    @cached_property
    def kernels(self) -> dict[tuple[str, str], str]:
        """{(question, stack): libraries and instruction sets that explain processes named}."""
        names = self.names
        return {
            (names[Purpose.EXPLAIN, row.text("comparison_id")], row.stack_name): row.kernels
            for row in self.analysis.counted
            if row["purpose"] == Purpose.EXPLAIN and row.kernels
        }

    @cached_property
    def names(self) -> dict[tuple[str, str], str]:
        """{(purpose, comparison_id): name of the question}."""
        heads: dict[str, dict[str, Row]] = {}
        for row in self.analysis.counted:
            heads.setdefault(row["purpose"], {}).setdefault(row.text("comparison_id"), row)
        named = {
            (purpose, id_): name
            for purpose, of_purpose in heads.items()
            for id_, name in question_names([*of_purpose.values()]).items()
        }
        return named | {(str(Purpose.TIMED), each.id): each.name for each in self.analysis.all_comparisons}

    @cached_property
    def processes(self) -> pl.DataFrame:
        """Every planned process, without its samples."""
        names = self.names
        kept = [field.name for field in SCHEMA if not str(field.type).startswith("list")]
        return pl.DataFrame(
            [
                {name: row[name] for name in kept}
                | {
                    "question": names[row["purpose"], row.text("comparison_id")],
                    "stack": row.stack_name,
                    "outcome": row.outcome,
                }
                for row in self.analysis.counted
            ],
            infer_schema_length=None,
        )


def line(comparison: Comparison, cell: Cell, figures: StackFigures | None, rows: list[Row]) -> dict[str, Any]:
    """Returns one stack on one question."""
    values: dict[str, Any] = dict.fromkeys(TYPES)
    values |= {
        "question": comparison.name,
        "question_id": comparison.id,
        "stack": cell.stack,
        "outcome": cell.outcome,
        "phase": cell.phase,
        "ended": "" if cell.outcome == Outcome.OK else outcome_text(cell),
        "reason": cell.reason,
        "counts": cell.counts,
        "ok": cell.ok,
        "planned": cell.total,
        "baseline": comparison.baseline,
    }
    if figures is None:
        return values | {
            f"{call}_seconds": middle(row.number(f"{call}_seconds") for row in rows) for call in ("first", "second")
        }
    values |= {column: getattr(figures, field) for column, field in FIGURES.items()}
    values["peak_ended_bytes"] = dict(figures.peak_parts).get("ended")
    values |= ends("median_seconds", figures.median)
    if figures.speedup:
        values |= ends("speedup", figures.speedup.ratio)
        values |= {"verdict": figures.speedup.verdict, "why": figures.speedup.why}
    return values


def ends(name: str, estimate: Estimate) -> dict[str, float | None]:
    """Returns a value with its interval as three columns."""
    return {name: estimate.value, f"{name}_low": estimate.low, f"{name}_high": estimate.high}
