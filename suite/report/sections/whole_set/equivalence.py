"""The section "Equivalence": how near each case's result is to the reference, and which cases are wrong."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from suite import units
from suite.case import Outcome
from suite.report.sections.section import Context, Section
from suite.report.sections.sentences import counted, listed
from suite.report.tables import Table
from suite.results.cases.equivalence import Proof, differing_weights, proofs


@dataclass(frozen=True, slots=True)
class EquivalenceSection(Section):
    """Every case that was timed. `differing` names the questions whose stacks had different weights or inputs."""

    proofs: tuple[Proof, ...]
    differing: tuple[str, ...]

    name = "equivalence"
    nav = "Equivalence"
    heading = "Do they compute the same?"
    key = "equivalence"
    terms = ("equivalence gate", "relative error", "precision", "wrong result", "unverified")

    @classmethod
    def of(cls, context: Context) -> EquivalenceSection | None:
        """Returns the section; None without a timed process."""
        cases = proofs(context.analysis)
        return cls(cases, differing_weights(cases)) if cases else None

    @property
    def answer(self) -> str:
        """Returns how many cases were compared with the reference, the worst error that passed, and the wrong cases."""
        gated = [case for case in self.proofs if case.is_gated]
        wrong = [f"{case.stack} on {case.question}" for case in gated if case.outcome == Outcome.WRONG]
        differ = [f"{case.stack} on {case.question}" for case in gated if case.outcome == Outcome.DIFFER]
        failed = (Outcome.WRONG, Outcome.DIFFER)
        passed = [case for case in gated if case.outcome not in failed and case.error is not None]
        sentences = [f"{len(gated)} of {counted(len(self.proofs), 'case')} compared with the reference"]
        if passed:
            worst = max(passed, key=lambda case: case.error or 0.0)
            sentences.append(f"worst error that passed {units.magnitude(worst.error)} ({worst.stack})")
        sentences.append(f"wrong: {listed(wrong)}" if wrong else "none is wrong")
        sentences += [f"these differ, and nothing says which is right: {listed(differ)}"] if differ else []
        if self.differing:
            sentences.append(f"weights differ on {listed(self.differing)}")
        return f"{'; '.join(sentences)}."

    def tables(self) -> Sequence[Table]:
        """Returns nothing: the section "Every case" lists the wrong cases."""
        return []

    def data(self) -> list[Any]:
        """Returns each case with its error and its observed precision."""
        return [
            {
                "question": case.question,
                "stack": case.stack,
                "outcome": case.outcome,
                "relative_error": case.error,
                "precision_observed": case.precision or None,
                "reason": case.reason or None,
            }
            for case in self.proofs
        ]
