"""What a run until decided does after a block: which cases leave, and whether another block starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from suite.answers.sentences import capital
from suite.answers.undecided import others
from suite.plan import layout
from suite.sets.result_set import ResultSet
from suite.sets.rows import counted
from suite.verdicts.looks import Standing, standings
from suite.verdicts.names import question_names
from suite.verdicts.speedups import Pairing

BUSY_MAX = 1.5  # the time of all blocks over that of the blocks up to the first look, where others disturb them


@dataclass(frozen=True, slots=True)
class Look:
    """How the questions stand after a block. `left` are the case_ids that need no further block; `is_over` says that no
    further block starts; `waits` says what the next one is for where other programs disturbed those before it."""

    standings: Sequence[Standing]
    left: frozenset[str]
    is_over: bool
    waits: str


def look(store: ResultSet, number: int) -> Look:
    """Judges the blocks up to a number.

    Further blocks replace those that other programs disturbed, for half as long again as the blocks up to the first
    look took, whose processes had replaced samples: all together at most double the time of a quiet machine. Then a
    question that is undecided for that reason ends with what it has.
    """
    plan, protocol = store.plan, store.plan.protocol
    rows = counted(row for row in store.merged() if row["block"] <= number)
    names = question_names([*{row["comparison_id"]: row for row in rows}.values()])
    stands = standings(replace(Pairing.of(rows, protocol, plan.baseline), names=names))
    done = {block.block: block for block in store.blocks() if block.accepted and block.block <= number}
    seconds = {each: block.seconds for each, block in done.items()}
    before = sum(taken for each, taken in seconds.items() if each <= protocol.first_look)

    def remaining(going: Sequence[Standing]) -> tuple[frozenset[str], float]:
        """Returns the cases that leave if only these questions go on, and the seconds until the next block's end."""
        go_on = {(one.comparison_id, stack) for one in going for stack in one.go_on}
        cases = [planned.case for planned in plan.cases]
        left = {case.case_id for case in cases if (case.comparison_id, case.stack_name) not in go_on}
        ran, runs = (len(layout.block(plan, 1, left=gone)) for gone in (done[number].left, left))
        return frozenset(left), sum(seconds.values()) + seconds[number] * runs / max(1, ran)

    going = [one for one in stands if one.unsure]
    left, ends = remaining(going)
    if ends > BUSY_MAX * before:
        going = [one for one in going if not one.waits]
        left, ends = remaining(going)
    waiting = {one.comparison_id for one in going if one.waits}
    return Look(
        stands,
        left,
        is_over=not going or ends > protocol.at_most_seconds,
        waits=f"{capital(others(rows, waiting))}: block {number + 1} replaces what they disturbed." if waiting else "",
    )
