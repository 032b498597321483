"""Computes the total time of a number of steps, and the step from which on one stack is ahead of another. From there on
a longer compilation has paid off.

A total is the first call, the second, and every later one at the stack's steady average, since a sum counts slow steps
in full. Starting (imports, weights,
placing) isn't part of it. Pure functions.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from itertools import permutations

from suite.results.case_row import CaseRow

DECIDED = ("faster", "slower")  # verdicts on steady times that say whose total is less in the long run
MATTERS = 1_000  # steady steps: a first run that takes longer than so many of them has a sentence of its own
MANY = 10**9  # steps: totals that cross later than this are parallel


@dataclass(frozen=True, slots=True)
class Calls:
    """The calls of one stack on one question, in seconds: the first, the second, and every later one."""

    stack: str
    first: float
    second: float
    steady: float

    @classmethod
    def of(cls, case: CaseRow | None) -> Calls | None:
        """Returns the calls of a stack; None where it has no times that count, or one of the three is unknown."""
        if case is None or not case.counts or case.first_seconds is None or case.second_seconds is None:
            return None
        return cls(case.stack, case.first_seconds, case.second_seconds, case.average)

    def total(self, steps: int) -> float:
        """Returns the seconds of the first `steps` calls (1 or more)."""
        return self.first if steps == 1 else self.first + self.second + (steps - 2) * self.steady


class Course(StrEnum):
    """How a stack's total compares with its baseline's over the steps."""

    AHEAD = "ahead from the first step"
    OVERTAKES = "ahead from a step on"
    OVERTAKEN = "ahead up to a step"
    BEHIND = "never ahead"
    UNDECIDED = "undecided"


@dataclass(frozen=True, slots=True)
class Crossing:
    """Where the total of a stack crosses its baseline's. `steps` is the first step from which on the stack is ahead for
    good (`OVERTAKES`), or the last step up to which it is ahead (`OVERTAKEN`); else None. `reason` says why the course
    is undecided."""

    course: Course
    steps: int | None = None
    reason: str = ""


def crossing(stack: CaseRow, baseline: CaseRow | None) -> Crossing | None:
    """Returns where a stack's total time crosses its baseline's; None if one of them has no times that count.

    Without a verdict on the steady times nobody knows whose total is less in the long run: the crossing is undecided.
    """
    ours, theirs = Calls.of(stack), Calls.of(baseline)
    if ours is None or theirs is None or stack.speedup is None:
        return None
    if stack.speedup.verdict not in DECIDED:
        return Crossing(Course.UNDECIDED, reason=f"steady times are {stack.speedup.verdict}")
    course, steps = course_of(ours, theirs)
    if (stack.speedup.verdict == "faster") != (course in (Course.AHEAD, Course.OVERTAKES)):
        return Crossing(
            Course.UNDECIDED, reason=f"the paired ratio is {stack.speedup.verdict}, the averages say otherwise"
        )
    return Crossing(course, steps)


def course_of(ours: Calls, theirs: Calls) -> tuple[Course, int | None]:
    """Returns how our total compares with theirs over the steps, and the step at which that changes for good."""
    since = pays_off(ours, theirs)
    if since is not None:
        return (Course.AHEAD, None) if since == 1 else (Course.OVERTAKES, since)
    behind_from = pays_off(theirs, ours)
    if behind_from is None or behind_from == 1:
        return Course.BEHIND, None
    return Course.OVERTAKEN, behind_from - 1


def is_long(calls: Calls) -> bool:
    """Whether the first run takes at least as long as `MATTERS` of the stack's steady steps."""
    return calls.first >= MATTERS * calls.steady


def pays_off(ours: Calls, theirs: Calls) -> int | None:
    """Returns the first step from which on our total is at most theirs for good; None if there is no such step."""
    saved = theirs.steady - ours.steady
    behind = ours.total(2) - theirs.total(2)  # after the first two calls
    if saved < 0 or (saved == 0 and behind > 0):
        return None
    if behind > 0:
        steps = behind / saved
        return 2 + math.ceil(steps) if steps < MANY else None
    return 2 if ours.first > theirs.first else 1


def least(stacks: Iterable[Calls]) -> list[tuple[int, str]]:
    """Returns (first step, stack) of each stretch of steps over which one stack has the least total.

    If totals are equal, the stack with the shorter steady call leads, then the first by name.
    """
    known = list(stacks)
    crossings = {step for ours, theirs in permutations(known, 2) if (step := pays_off(ours, theirs))}
    stretches: list[tuple[int, str]] = []
    # The step after a crossing, too: where totals are equal, rounding may put the change there.
    for step in sorted({1, 2, *crossings, *(step + 1 for step in crossings)} if known else ()):
        leader = min(known, key=lambda calls: (calls.total(step), calls.steady, calls.stack))
        if not stretches or stretches[-1][1] != leader.stack:
            stretches.append((step, leader.stack))
    return stretches


def steps_shown(most: int) -> list[int]:
    """Returns the steps at which a chart draws totals: 1, 2, 3, 5, 10, 20 … `most`."""
    return [step for power in range(len(str(most))) for lead in (1, 2, 3, 5) if (step := lead * 10**power) <= most]
