"""Lays a plan's cases out in processes: which run in each block and which outside the blocks, and in which order."""

from __future__ import annotations

import hashlib
import random
from collections.abc import Collection, Mapping, Sequence
from functools import partial

from suite.case import OUTSIDE_BLOCKS, Attempt, Case, Planned, Purpose
from suite.plan.memory import in_order
from suite.sets.plan import Plan
from suite.stacks.catalog import STACKS
from suite.stacks.names import counterpart

# Seconds of start-up and compiling of one small case, by the catalogue.
QUICK_SECONDS = 5.0  # stacks that take no longer run first in block 1, so that rows appear at once
COSTLY_SECONDS = 20.0  # a stack that takes as long is spared in blocks after `costly_blocks`
Unit = list[tuple[Case, int, Purpose]]  # processes that run one right after the other
# What an untimed process is for.
AIMS: Mapping[str, str] = {
    Purpose.MEMORY: "takes a few steps and reads peak memory",
    Purpose.PRIME: "fills the compile caches with which a warm case starts",
    Purpose.IR: "keeps the programs that the stack hands to its compiler",
    Purpose.PREDICT: "has an accelerator's compiler judge the case",
    Purpose.EXPLAIN: "records the kernels that run and what holds the memory",
    Purpose.PROFILE: "records where a step's time goes",
    Purpose.PROBE: "observes how the stack behaves",
}


def attempts(plan: Plan) -> list[Attempt]:
    """Returns all planned processes in order: the protocol's `blocks`, without those that a run adds, then the
    processes outside the blocks."""
    blocks = range(1, plan.protocol.blocks + 1) if plan.purpose is Purpose.TIMED else ()
    in_blocks = [attempt for number in blocks for attempt in block(plan, number)]
    return in_blocks + [attempt for purpose in OUTSIDE_BLOCKS for attempt in outside(plan, purpose)]


def runnable(plan: Plan) -> list[Attempt]:
    """Returns the planned processes, as `attempts` does, without those of cases that can't run here."""
    unsupported = {planned.case.case_id for planned in (*plan.cases, *plan.predictions) if planned.unsupported}
    return [attempt for attempt in attempts(plan) if attempt.case.case_id not in unsupported]


def block(plan: Plan, number: int, retry: int = 1, left: Collection[str] = ()) -> list[Attempt]:
    """Returns the processes of one block, for every case that isn't spared in it, and hasn't `left` (case_ids) since it
    is decided. Comparisons are in shuffled order, and so are the stacks of a comparison; a prime stands right before
    its warm case.

    A shared host changes its pace for 10 to 20 s at a time, so the stacks of a comparison run next to each other, and
    the baseline's replicates are spread among them.
    """
    draw = random.Random(hashlib.sha256(f"{plan.set_id}/{number}/{retry}".encode()).digest())
    comparisons: dict[str, list[Planned]] = {}
    for planned in plan.cases:
        if planned.case.case_id not in left and not is_spared(plan, planned.case, number):
            comparisons.setdefault(planned.case.comparison_id, []).append(planned)
    processes = [
        process
        for place, comparison in enumerate(draw.sample([*comparisons.values()], len(comparisons)))
        for unit in sequence(plan, comparison, draw, quickest_first=number == 1 and place == 0)
        for process in unit
    ]
    attempt = partial(Attempt, set_id=plan.set_id, block=number, retry=retry, seed=plan.seed)
    return [
        attempt(case=case, position=position, replicate=replicate, purpose=purpose)
        for position, (case, replicate, purpose) in enumerate(processes, 1)
    ]


def outside(plan: Plan, purpose: Purpose, retry: int = 1) -> list[Attempt]:
    """Returns the processes of one purpose outside the blocks, as block 0. Nothing in these processes is timed."""
    attempt = partial(Attempt, set_id=plan.set_id, block=0, replicate=1, purpose=purpose, retry=retry, seed=plan.seed)
    return [
        attempt(case=planned.case, position=position)
        for position, planned in enumerate(cases_outside(plan, purpose), 1)
    ]


def cases_outside(plan: Plan, purpose: Purpose) -> Sequence[Planned]:
    """Returns the cases that get a process of this purpose outside the blocks: none, unless the run is for that purpose
    or its protocol asks for such processes."""
    if purpose is Purpose.PREDICT:
        return plan.predictions
    if plan.purpose is purpose:
        return in_order(plan.cases) if purpose is Purpose.MEMORY else plan.cases
    beside = {
        Purpose.IR: plan.protocol.ir,
        Purpose.EXPLAIN: plan.protocol.explain or plan.protocol.kernels,
        Purpose.PROFILE: plan.protocol.profile or plan.purpose is Purpose.EXPLAIN,
    }
    if plan.purpose is Purpose.PROBE or not beside.get(purpose):
        return ()
    if purpose is Purpose.IR:
        return [planned for planned in plan.cases if STACKS[planned.case.stack].compiler]
    if purpose is Purpose.EXPLAIN and not plan.protocol.explain:  # `kernels`: the first case of each stack
        return [*{planned.case.stack_name: planned for planned in reversed(plan.cases)}.values()][::-1]
    return plan.cases


def is_base(plan: Plan, case: Case) -> bool:
    """Whether others are compared with a case: the baseline or its counterpart on this question or, where the baseline
    is a variant, each stack of this variant, which the stack's other variants are compared with."""
    if case.stack_name == plan.baseline or f"@{case.variant}:" in f"{plan.baseline}:":
        return True
    if not plan.counterparts or counterpart(plan.baseline, [case.stack_name]) != case.stack_name:
        return False
    beside = (it.case.stack_name for it in plan.cases if it.case.comparison_id == case.comparison_id)
    return counterpart(plan.baseline, beside) == case.stack_name


def is_spared(plan: Plan, case: Case, block: int) -> bool:
    """Whether a block leaves a case out. To save time, a preset may run stacks that take long to compile only in its
    first `costly_blocks` blocks."""
    costly = STACKS[case.stack].estimate_seconds >= COSTLY_SECONDS and not is_base(plan, case)
    return costly and 0 < plan.protocol.costly_blocks < block


def sequence(plan: Plan, comparison: Sequence[Planned], draw: random.Random, *, quickest_first: bool) -> list[Unit]:
    others: list[Unit] = []
    baselines: list[Unit] = []
    for planned in draw.sample(comparison, len(comparison)):
        units = [unit_of(planned, replicate) for replicate in replicates(plan, planned)]
        (baselines if is_base(plan, planned.case) else others).extend(units)
    if quickest_first:
        others.sort(key=lambda unit: min(STACKS[unit[0][0].stack].estimate_seconds, QUICK_SECONDS))
    among = len(others) / len(baselines) if baselines else 0
    for k, baseline in enumerate(baselines):
        others.insert(round((k + 0.5) * among) + k, baseline)
    return others


def unit_of(planned: Planned, replicate: int) -> Unit:
    """Returns a case's process; for a warm case, first the process that fills its caches."""
    case = planned.case
    primed = case.cache == "warm" and not planned.unsupported
    return [(case, replicate, purpose) for purpose in ((Purpose.PRIME, Purpose.TIMED) if primed else (Purpose.TIMED,))]


def replicates(plan: Plan, planned: Planned) -> Sequence[int]:
    """Returns the replicates of a case in a block: one, or several of a baseline, which show the noise floor."""
    twin = plan.twin and is_base(plan, planned.case) and not planned.unsupported
    return range(1, plan.protocol.baseline_replicates + 1) if twin else (1,)
