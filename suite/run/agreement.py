"""Do the processes of a run agree? Losses with the gated process of the same case, digests with the first stack."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from suite.case import Outcome
from suite.protocol import TOLERANCE, ZERO_GRADIENT
from suite.reference.expected import digest_tolerance
from suite.results.rows import Row
from suite.workloads.catalog import Workload


@dataclass
class Agreement:
    """What is remembered of rows that passed, and what later ones are held to."""

    workloads: dict[str, Workload]
    losses: dict[str, list[float]] = field(default_factory=dict)  # by case_id: the gated process's
    first: dict[str, Row] = field(default_factory=dict)  # by comparison_id: the first row with digests of its tensors

    def remember(self, row: Row) -> None:
        """Learn from a timed and measured row that ended `ok`."""
        if digests(row):
            self.first.setdefault(row["comparison_id"], row)
        if digests(row) or row["relative_error"] is not None:
            self.losses[row["case_id"]] = losses(row)

    def judge(self, row: Row) -> None:
        """Make a row `wrong` that differs from what it is held to."""
        self.judge_losses(row)
        self.judge_digests(row)

    def judge_losses(self, row: Row) -> None:
        """The first losses of every process must be those of the one that passed the gate."""
        gated, own = self.losses.get(row["case_id"], []), losses(row)
        tolerance = 2 * TOLERANCE[row["precision"]]  # both may be off, in opposite directions
        for step, (a, b) in enumerate(zip(own, gated, strict=False), 1):
            if row["outcome"] == Outcome.OK and not math.isclose(a, b, rel_tol=tolerance):
                row["outcome"] = str(Outcome.WRONG)
                row["reason"] = f"loss of step {step} is {a!r}; the process that passed the gate had {b!r}"

    def judge_digests(self, row: Row) -> None:
        """Where no golden file says what is right, stacks must at least agree with the first that ran."""
        first = self.first.get(row["comparison_id"])
        if row["outcome"] != Outcome.OK or first is None or not digests(row):
            return
        allowed = partial(digest_tolerance, self.workloads[row["workload"]].spec, row["precision"])
        name, error = disagreement(digests(row), digests(first), allowed)
        row["relative_error"] = max(error, row["relative_error"] or 0.0)
        if not error <= allowed(name):
            row["outcome"] = str(Outcome.WRONG)
            row["reason"] = f"{name}: relative error {error:.2g} against {first['stack']}, which ran first"


def losses(row: Row) -> list[float]:
    """The first losses that a process reported."""
    return next((metric["values"] for metric in row["metrics"] or [] if metric["name"] == "loss"), [])


def digests(row: Row) -> dict[str, list[float]]:
    """(norm, projection) of a model's tensors by name; only a gated process without a golden file has them."""
    return {metric["name"]: metric["values"] for metric in row["metrics"] or [] if metric["kind"] == "digest"}


def disagreement(
    ours: dict[str, list[float]], theirs: dict[str, list[float]], allowed: Callable[[str], float]
) -> tuple[str, float]:
    """The tensor in which two stacks differ most for what is allowed, and by how much of its norm."""
    largest = max((values[0] for name, values in theirs.items() if name.startswith("gradient/")), default=0.0)
    worst, most, of_norm = "", 0.0, 0.0
    for name, (norm, projection) in theirs.items():
        if name.startswith("gradient/") and norm < ZERO_GRADIENT * largest:
            continue  # zero but for rounding
        figures = ours.get(name, [math.nan, math.nan])
        error = max(abs(figures[0] - norm), abs(figures[1] - projection)) / (norm or 1.0)
        if not error / allowed(name) <= most:
            worst, most, of_norm = name, error / allowed(name), error
    return worst, of_norm
