"""Prepares a plan that another machine has made to run here: as a new set, with the locks and flags of the old one."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from suite.case import Case
from suite.environments import foreign, venv
from suite.environments.locks import Lock, Locks
from suite.errors import UserError
from suite.machine import facts
from suite.plan.refusals import unsupported
from suite.run.start import engines
from suite.run.start.reopen import check_trees, recorded
from suite.run.start.run import Run, new_set_id
from suite.sets.files import sha256
from suite.sets.plan import PlanFile
from suite.sets.result_set import ResultSet
from suite.stacks.catalog import STACKS, environment_of
from suite.workloads.catalog import Workload, find


def prepare_reproduction(store: ResultSet, engine: str, workload_paths: Sequence[Path] = ()) -> Run:
    """Returns the run of a set's plan as a new set here. Raises UserError, naming everything that can't be had here.

    A set's own workloads and stacks are code, never taken from the set: workloads come from `workload_paths`, stacks
    from the catalogue, to which the caller has added the user's. The set's engine, interpreter and scheduler are facts
    about the machine where it was made.
    """
    facts.refuse_platform()
    file, workloads = store.plan_file, find(workload_paths)
    locks, unlocked = borrowed(store)
    lacking = [*unlocked, *wanting(file, workloads)]
    if lacking:
        raise UserError(f"{store.folder} can't be reproduced here for want of: {'; '.join(lacking)}.")
    run = run_of(file, locks, workloads, workload_paths, engine, None)
    return replace(run, plan=replace(run.plan, set_id=new_set_id("reproduction", file.target)))


def run_of(
    file: PlanFile,
    locks: Locks,
    workloads: dict[str, Workload],
    workload_paths: Sequence[Path],
    engine: str,
    python: str | None,
) -> Run:
    """Returns a run of another machine's plan. A case that can't run on this machine has the reason."""
    choice = engines.choose(engine, list(file.locks), locks, python, build=True)
    if choice.client is None and python is None:
        # A case that couldn't run there may run here, in an environment that the plan has no lock of.
        locks = venv.fitting({environment_of(p.case.stack, p.case.variant) for p in file.plan.cases}, locks)
    absent = partial(engines.absent, locks=locks, engine=choice, python=python)
    cases = tuple(
        replace(planned, unsupported=unsupported(planned.case, workloads[planned.case.workload], absent))
        for planned in file.plan.cases
    )
    return Run(
        plan=replace(file.plan, cases=cases),
        workloads=workloads,
        workload_paths=tuple(workload_paths),
        locks=locks,
        engine=choice,
        python=python,
    )


def borrowed(store: ResultSet) -> tuple[Locks, list[str]]:
    """Returns the locks and flags with which a set is reproduced, and a phrase for each lock that isn't available. For
    a lock that this checkout lacks, the set's own copy is used if it is intact, or our lock of the same versions."""
    digests = store.plan_file.locks
    locks, missing = recorded(store.plan_file)
    copies = {name: Lock(name, locks.target, store.lock_copy(name).absolute()) for name in missing}
    intact = {name: it for name, it in copies.items() if it.exists and sha256(it.path) == digests[name]}
    used = {name: (foreign.ours_for(copy) or copy).path for name, copy in intact.items()}
    lacking = [f"the lock of environment {name} ({str(digests[name])[:12]})" for name in missing if name not in intact]
    return replace(locks, chosen={**locks.chosen, **used}, flags=store.plan_file.flags), lacking


def wanting(file: PlanFile, workloads: Mapping[str, Workload]) -> list[str]:
    cases = [planned.case for planned in file.plan.cases]
    cores, most = len(facts.usable_cores()), max((case.threads for case in cases), default=0)
    names = sorted({case.workload for case in cases} - workloads.keys())
    return [
        *([f"{file.python}, an interpreter that no lock pins"] if file.python else []),
        *([f"{most} cores (this machine has {cores})"] if most > cores else []),
        *(f"the workload {name}, code of its own: read it in inputs/workloads, then --workload-path" for name in names),
        *dict.fromkeys(words for case in cases if (words := misfit(case, workloads))),
    ]


def misfit(case: Case, workloads: Mapping[str, Workload]) -> str | None:
    if case.stack not in STACKS:
        return f"the stack {case.stack} (code of the set's own? Read it in inputs/stacks, then --stack-path)"
    if case.workload not in workloads:
        return None
    workload = workloads[case.workload]
    try:
        dims = workload.dims(next(iter(workload.sizes)), case.dims)
    except UserError as broken:
        return f"dims that this version's {case.workload} takes ({str(broken).rstrip('.')})"
    lacking = ", ".join(sorted(dims.keys() - case.dims.keys()))
    return f"the dims {lacking} of {case.workload}" if lacking else None


def strange(store: ResultSet) -> list[str]:
    """Returns a phrase for everything in a set that would be used and isn't this project's: locks that would be
    installed, and variables that frameworks would get. Raises Damaged for a lock that has anything but packages,
    versions and hashes, and UserError for a set that compares revisions, whose code it doesn't have."""
    check_trees(store)
    file = store.plan_file
    sentences = []
    for name, digest in file.locks.items():
        copy = store.lock_copy(name)
        if digest is None or not copy.is_file() or sha256(copy) != digest:
            continue
        foreign.check_lock(copy)
        lock = Lock(name, file.target, copy)
        if not foreign.is_ours(lock):
            changes = "; ".join(foreign.differences(lock))
            sentences.append(f"packages of environment {name} by a lock that this checkout doesn't know: {changes}")
    for name, variables in file.flags.items():
        for variable, value in foreign.strange_variables(name, file.target, variables).items():
            sentences.append(f"{variable}={shlex.quote(value)} for the processes of {name}")
    return sentences
