"""The plan of a run: the cases, and everything that decides which processes run for them and in which order."""

from __future__ import annotations

import re
from dataclasses import dataclass

from suite.case import Case, Planned, Purpose
from suite.errors import UserError
from suite.protocol import Protocol

SET_ID = re.compile(r"\w[\w .+@=,-]{0,199}")  # part of commands on pages: nothing in it is a shell's


@dataclass(frozen=True, slots=True)
class Plan:
    """What a run asks. suite/plan/layout.py lays its cases out in processes."""

    set_id: str
    cases: tuple[Planned, ...]
    protocol: Protocol
    baseline: str
    twin: bool
    seed: int
    purpose: Purpose = Purpose.TIMED  # of the whole run
    exhaustive: bool = False  # of memory: cases that can only fail are tried, too
    vary: str = ""  # a dim whose largest value that fits is searched for; the cases are where each search begins
    shard: str = ""  # of one machine's share: which of how many, like `2/4`
    predictions: tuple[Planned, ...] = ()  # cases of accelerators that aren't here, for their compilers to judge
    whole: str = ""  # of one machine's share: the digest of the plan that was shared out

    def __post_init__(self) -> None:
        """Raises UserError for a set's name or a seed that no run has: a plan may come from a stranger."""
        if not SET_ID.fullmatch(self.set_id):
            raise UserError(f"no set can be called {self.set_id[:60]!r}.")
        if not 0 <= self.seed < 2**63:
            raise UserError("a seed is a whole number from 0 to 2⁶³ − 1.")

    def reason(self, case: Case) -> str | None:
        """Returns why a case can't run; None if it can, or isn't of this plan."""
        every = (*self.cases, *self.predictions)
        return next((planned.unsupported for planned in every if planned.case == case), None)

    def too_large(self, case: Case) -> str | None:
        """Returns why a case is predicted to run out of memory; None if it isn't."""
        return next((planned.too_large for planned in self.cases if planned.case == case), None)
