"""Collects the proof that stacks compute the same: their errors against the reference, and the digests of their
weights."""

from __future__ import annotations

from dataclasses import dataclass

from suite.case import Outcome, Purpose
from suite.results.analysis import Analysis
from suite.results.outcomes import gravest
from suite.results.questions.grouping import grouped
from suite.results.stack_figures import greatest
from suite.results.store.rows import Row


@dataclass(frozen=True, slots=True)
class Proof:
    """The proof of one case. `error` is the worst relative Frobenius error of its tensors against the reference, None
    if no process was gated; `precision` is the arithmetic observed in use; `weights` are the digests of its weights and
    inputs."""

    question: str
    stack: str
    outcome: str
    reason: str
    error: float | None
    precision: str
    weights: frozenset[str]

    @property
    def is_gated(self) -> bool:
        """Whether the gate compared the case with the reference."""
        return self.error is not None or self.outcome in (Outcome.WRONG, Outcome.DIFFER)


def proofs(analysis: Analysis) -> tuple[Proof, ...]:
    """Returns the proof of every case that was timed, by question, the worst error first."""
    names = {comparison.id: comparison.name for comparison in analysis.comparisons}
    timed = [row for row in analysis.counted if row["purpose"] == Purpose.TIMED and row["comparison_id"] in names]
    cases = grouped(timed, lambda row: (names[row.text("comparison_id")], row.stack_name))
    listed = [proof(question, stack, rows) for (question, stack), rows in cases.items()]
    return tuple(sorted(listed, key=lambda case: (case.question, case.error is None, -(case.error or 0.0), case.stack)))


def proof(question: str, stack: str, rows: list[Row]) -> Proof:
    """Returns the proof of one case from the rows of its processes."""
    wrong = next((row for row in rows if row.outcome in (Outcome.WRONG, Outcome.DIFFER) and row.text("reason")), None)
    return Proof(
        question=question,
        stack=stack,
        outcome=gravest(row.outcome for row in rows),
        reason=wrong.text("reason") if wrong else "",
        error=greatest(rows, "relative_error"),
        precision=", ".join(sorted({row.text("precision_observed") for row in rows} - {""})),
        weights=frozenset(digest for row in rows if (digest := row.text("weights_sha256"))),
    )


def differing_weights(cases: tuple[Proof, ...]) -> tuple[str, ...]:
    """Returns the questions whose stacks didn't all have the same weights and inputs."""
    digests: dict[str, set[str]] = {}
    for case in cases:
        digests.setdefault(case.question, set()).update(case.weights)
    return tuple(question for question, seen in digests.items() if len(seen) > 1)
