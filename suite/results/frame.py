"""A set as tables: what answers are computed from, in a notebook, too."""

from __future__ import annotations

import os
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from statistics import median
from typing import Any

import polars as pl

from suite.case import Outcome, Purpose
from suite.machine.roofline import Roofline
from suite.protocol import Protocol
from suite.results import Results
from suite.results.analysis import Analysis, Comparison, raised
from suite.results.case_row import CaseRow, used_processes
from suite.results.columns import COLUMNS
from suite.results.outcomes import outcome_text
from suite.results.ranking import ranked_stacks
from suite.results.ratios import ratios
from suite.sets.arrow import SCHEMA, to_table
from suite.sets.rows import Row
from suite.stats import MODES_SPREAD, outliers
from suite.verdicts.grouping import grouped
from suite.verdicts.names import question_names
from suite.verdicts.speedups import Pairing

# What polars does to the process that imports it: a variable that measured processes must not have, and system calls
# are restarted after Ctrl-C, so that a wait for another process would never be interrupted.
os.environ.pop("_RJEM_MALLOC_CONF", None)
signal.siginterrupt(signal.SIGINT, True)  # noqa: FBT003  # it has no keyword

KEYS = ("question_id", "stack")
OF_CASE = (
    *("stack", "outcome", "phase", "reason", "counts", "ok", "planned"),
    *(f"{name}_seconds" for name in ("first", "second", "average", "dispatch", "pipelined", "fetch", "compile")),
    *("efficiency", "peak_bytes", "relative_error", "tolerance", "kernels"),
    *(f"median_seconds{end}" for end in ("", "_low", "_high")),
)  # columns that are a case's fields
OF_PROCESSES = ("best_seconds", "spread", "two_modes")  # the same, of a case with times
TYPES: dict[str, Any] = {
    **dict.fromkeys(("question", "question_id", "ended", "baseline", "item"), pl.String),
    **dict.fromkeys((*OF_CASE, *OF_PROCESSES, "peak_ended_bytes"), pl.Float64),
    **dict.fromkeys(("stack", "outcome", "phase", "reason", "kernels"), pl.String),
    **dict.fromkeys(("counts", "two_modes", "leads"), pl.Boolean),
    **dict.fromkeys(("ok", "planned"), pl.Int64),
    "flags": pl.List(pl.String),
}
RATIO = {
    "value": "speedup",
    "low": "speedup_low",
    "high": "speedup_high",
    "verdict": "verdict",
    "why": "why",
    "in_set": "verdict_in_set",
    "reason": "verdict_reason",
    **{f"best{end}": f"best_speedup{end}" for end in ("", "_low", "_high")},
}  # {column of the ratios: its name beside the figures of a stack}
SCALARS = {
    "items": "items_per_step",
    "cores": "effective_cores",
    "page_faults": "minor_faults_per_step",
    **{name: name for name in ("graph_breaks", "compiles_first", "compiles_second", "compiles_steady")},
}  # {name: column of a row}, which a stack's processes have each for itself
PROCESS: dict[str, Any] = {
    **dict.fromkeys((*KEYS, "precision"), pl.String),
    "samples": pl.List(pl.Float64),
    "result_types": pl.List(pl.String),
    "outliers": pl.Int64,
    **dict.fromkeys(("synced", "dispatch", "pipelined", "fetch", *SCALARS), pl.Float64),
    **dict.fromkeys(("turns", "slow_turns"), pl.Int64),
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
        """What the machine reaches; None if that isn't known."""
        return raised(self.results.roof, self.analysis.counted)

    @cached_property
    def ratios(self) -> pl.DataFrame:
        """Every stack over the baseline, or over the stack that stands in for it."""
        return ratios(self.analysis)

    @cached_property
    def stacks(self) -> pl.DataFrame:
        """Every planned stack of every question: the fastest of a question first, those without times last. Times of a
        stack without a steady time are medians over the processes that came so far."""
        lines = [line(comparison, case) for comparison in self.analysis.comparisons for case in comparison.cases]
        return (
            pl.DataFrame(lines, schema=TYPES)
            .join(self.ratios.select(*KEYS, *RATIO).rename(RATIO), on=KEYS, how="left", maintain_order="left")
            .join(of_processes(self.analysis.pairing), on=KEYS, how="left", maintain_order="left")
            .with_columns(
                items_per_second=pl.col("items") / pl.col("median_seconds"),
                median_speedup=over_baseline("median_seconds"),
                average_speedup=over_baseline("average_seconds"),
            )
            .drop("items")
        )

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


def line(comparison: Comparison, case: CaseRow) -> dict[str, Any]:
    """Returns one stack on one question; what it lacks is null."""
    return {
        "question": comparison.name,
        "question_id": comparison.id,
        **{name: getattr(case, name) for name in (*OF_CASE, *(OF_PROCESSES if case.is_timed else ()))},
        "ended": "" if case.outcome == Outcome.OK else outcome_text(case),
        "baseline": comparison.baseline,
        "item": comparison.item,
        "leads": case.stack in comparison.leaders,
        "kernels": case.kernels if case.is_timed else None,
        "peak_ended_bytes": dict(case.peak_parts).get("ended"),
        "flags": [flag for flag, _ in case.flags] if case.is_timed else None,
    }


@lru_cache(maxsize=8)
def of_processes(pairing: Pairing) -> pl.DataFrame:
    """Returns the figures that each stack's processes give by their own samples and counters, over any baseline."""
    stacks = grouped(pairing.rows, lambda row: (row.text("comparison_id"), row.stack_name)).values()
    processes = pl.DataFrame([process(row) for rows in stacks for row in used_processes(rows)], schema=PROCESS)
    return processes.group_by(KEYS).agg(**{name: each.of for name, each in COLUMNS.items() if each.of is not None})


def process(row: Row) -> dict[str, Any]:
    samples, turns = row.samples(), [*row.round_medians("synced").values()]
    slow = MODES_SPREAD * median(turns) if turns else 0.0
    return {
        "question_id": row["comparison_id"],
        "stack": row.stack_name,
        "samples": samples,
        "synced": row.median(),
        "outliers": outliers(samples),
        "turns": len(turns),
        "slow_turns": sum(seconds > slow for seconds in turns),
        **{clock: row.median(clock) for clock in ("dispatch", "pipelined", "fetch")},
        "result_types": [str(kind) for kind in row.mapping("result_types").values()],
        "precision": row.text("precision_observed"),
        **{name: row.number(column) for name, column in SCALARS.items()},
    }


def over_baseline(name: str) -> pl.Expr:
    """Returns the baseline's time on the same question divided by the stack's own."""
    return pl.col(name).filter(stack=pl.col("baseline")).first().over("question_id") / pl.col(name)


def attempts(rows: Sequence[Row]) -> pl.DataFrame:
    """Returns rows with the columns of a set's file."""
    return pl.DataFrame(to_table(rows))
