"""The plan of a run: the cases, and everything that decides which processes run for them and in which order."""

from __future__ import annotations

import re
from dataclasses import dataclass

from suite.case import Case, Planned, Purpose
from suite.errors import UserError
from suite.protocol import Protocol

SET_ID = re.compile(r"\w[\w .+@=,-]{0,199}")  # pages have it in commands, so none of its characters acts in a shell


@dataclass(frozen=True, slots=True)
class Plan:
    """The cases of a run, and how to run them. suite/plan/layout.py lays the cases out in processes."""

    set_id: str
    cases: tuple[Planned, ...]
    protocol: Protocol
    baseline: str
    twin: bool
    seed: int
    purpose: Purpose = Purpose.TIMED  # of the whole run
    exhaustive: bool = False  # a memory run tries cases that can only fail, too
    vary: str = ""  # a search looks for the largest value of this dim that fits, from each case on; empty: no search
    shard: str = ""  # the number of a machine's share, and how many there are, like `2/4`; empty: not a share
    predictions: tuple[Planned, ...] = ()  # cases of accelerators that aren't here, for their compilers to judge
    whole: str = ""  # the digest of the plan that this share is of; empty: not a share

    def __post_init__(self) -> None:
        """Raises UserError for a set's name or a seed that no run can have: a plan may come from a stranger."""
        if not SET_ID.fullmatch(self.set_id):
            raise UserError(f"no set can be called {self.set_id[:60]!r}.")
        if not 0 <= self.seed < 2**63:
            raise UserError("a seed is a whole number from 0 to 2⁶³ − 1.")

    def reason(self, case: Case) -> str | None:
        """Returns why a case can't run; None if it can, or if the plan doesn't have it."""
        all_cases = (*self.cases, *self.predictions)
        return next((planned.unsupported for planned in all_cases if planned.case == case), None)

    def too_large(self, case: Case) -> str | None:
        """Returns why a case is predicted to run out of memory; None if it isn't."""
        return next((planned.too_large for planned in self.cases if planned.case == case), None)
