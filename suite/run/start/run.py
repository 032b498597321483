"""A run before its first process: what it consists of, its new result set, and the runner of its attempts."""

from __future__ import annotations

import datetime
import hashlib
import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from suite.case import Purpose
from suite.environments import revisions, venv
from suite.environments.checkout import git, revision
from suite.environments.locks import Locks
from suite.environments.variants import flags
from suite.errors import COMMAND
from suite.launch.engine import ROOT
from suite.machine import devices, facts
from suite.machine.roofline import Roofline
from suite.plan import layout
from suite.run.start import engines
from suite.sets.plan import Plan, PlanFile
from suite.stacks.catalog import READER, STACKS, environment_of
from suite.workloads.catalog import Workload, file_name

if TYPE_CHECKING:  # a plan alone, as of a dry run, needs neither
    from suite.run.runner import Runner
    from suite.sets.result_set import ResultSet


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A plan with everything that it takes to carry it out on this machine."""

    plan: Plan
    workloads: dict[str, Workload]
    workload_paths: tuple[Path, ...]
    locks: Locks
    engine: engines.Choice
    python: str | None  # an interpreter of the user's own, in place of the locked environments
    scheduler: str = ""  # decides on which machine each comparison runs; empty: this one
    machine: str = ""  # a lasting name that the user gives this machine; empty: the system's own

    @property
    def target(self) -> str:
        return self.locks.target


def needed(plan: Plan) -> list[str]:
    """Returns the environments of the cases that can run, variants included. JAX's is among them if programs or
    profiles are recorded: it has XLA's bindings, which read both."""
    names = {environment_of(p.case.stack, p.case.variant) for p in plan.cases if not p.unsupported}
    if names and any(layout.cases_outside(plan, purpose) for purpose in (Purpose.IR, Purpose.PROFILE)):
        names.add(READER)
    return sorted(names)


def new_set_id(name: str, target: str) -> str:
    """Returns a name that sorts by time: `20260102-030405-quick-cpu-1a2b`."""
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%d-%H%M%S")
    # A preset's file may be called anything; a set's name is part of files' names and of commands.
    plain = re.sub(r"[^\w.+-]", "_", name)
    return f"{stamp}-{plain}-{target}-{secrets.token_hex(2)}"


def create(
    run: Run, preset: Path | None, given: Sequence[str], results: Path, options: Sequence[str] = ()
) -> ResultSet:
    """Returns the new result set: its plan, and copies of what it takes to run it again. `given` are the words of the
    command. For a plan that was taken from another set, `preset`, the preset's file, is None, and `options` are that
    set's."""
    from suite.sets.result_set import ResultSet

    store = ResultSet.create(results / run.plan.set_id, describe(run, given, options))
    store.machine = devices.machine(store.plan_file.target, run.machine)
    if preset is not None:
        store.keep(preset)
    for name in store.plan_file.locks:
        store.keep(run.locks.of(name).path, store.lock_copy(name).name)
    for name in {planned.case.workload for planned in run.plan.cases}:
        folder = run.workloads[name].folder
        if not folder.is_relative_to(ROOT / "suite"):  # it isn't in this project's source, whose revision is kept
            store.keep(folder, f"workloads/{file_name(name) if folder.is_file() else name}")
            for file in {file for dims in dims_of(run.plan, name) for file in run.workloads[name].data_files(dims)}:
                if file.is_relative_to(folder.parent):
                    store.keep(file, f"workloads/{file.relative_to(folder.parent)}")
    for path in stack_files(run.plan):
        store.keep(path, f"stacks/{path.name}")
    store.keep_source(revision(), git("diff", "HEAD"))
    return store


def dims_of(plan: Plan, workload: str) -> list[Mapping[str, int]]:
    return [planned.case.dims for planned in plan.cases if planned.case.workload == workload]


def stack_files(plan: Plan) -> list[Path]:
    return sorted({file for planned in plan.cases if (file := STACKS[planned.case.stack].file)})


def from_checkout(path: Path) -> str:
    """Returns a path as a plan keeps it: what lies in the checkout, or in the repository whose revisions are compared,
    from there."""
    homes = (ROOT, *(place for place, word in revisions.places().items() if word == revisions.REPOSITORY))
    return str(next((path.relative_to(home) for home in homes if path.is_relative_to(home)), path))


def describe(run: Run, given: Sequence[str], options: Sequence[str] = ()) -> PlanFile:
    """Returns the content of plan.json: the plan, its processes, and the engine, locks and source that carry it out.
    `options` are by default those among `given`, the words of the command."""
    # An interpreter of the user's own runs what no lock pins.
    locked = [] if run.python else [name for name in needed(run.plan) if run.locks.of(name).exists]
    asked = {planned.case.workload for planned in run.plan.cases}
    return PlanFile(
        plan=run.plan,
        created_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        command=shlex.join([COMMAND, *given]),
        options=tuple(options or given[1:]),
        target=run.target,
        engine=run.engine.name,
        python=run.python,
        workload_paths=tuple(map(from_checkout, run.workload_paths)),
        stack_paths=tuple(map(from_checkout, stack_files(run.plan))),
        machine_id=facts.machine_id(run.machine),
        cores=tuple(facts.usable_cores()),
        attempts=tuple(layout.attempts(run.plan)),
        scheduler=run.scheduler,
        units={name: run.workloads[name].unit for name in asked},
        code={name: run.workloads[name].digests for name in asked},
        locks={name: run.locks.of(name).sha256 for name in locked},
        fallbacks={name: words for name in locked if (words := venv.fallback(name, run.locks))},
        flags={
            name: variables
            for name in needed(run.plan)
            if (name in locked or revisions.of(name)) and (variables := flags_of(name, run.locks))
        },
        revision=revision() or None,
        dirty=bool(git("status", "--porcelain").strip()),
        change=source_change(),
    )


def flags_of(name: str, locks: Locks) -> dict[str, str]:
    """Returns the variables of a variant's processes: a reproduced set's own, else this checkout's."""
    return dict(locks.flags[name]) if name in locks.flags else flags(name, locks.target)


def source_change() -> str:
    change = git("diff", "HEAD")
    return hashlib.sha256(change.encode()).hexdigest() if change else ""


def runner(store: ResultSet, run: Run) -> Runner:
    from suite.run import ceilings
    from suite.run.reading import DEFAULT_READERS, readers
    from suite.run.runner import Runner

    file, names = store.plan_file, needed(run.plan)
    return Runner(
        run.plan,
        store,
        run.workloads,
        engines.provider(run.engine, run.locks, run.plan.set_id, run.python),
        file.machine_id,
        list(file.cores),
        run.engine.name,
        file.flags,
        unpinned=run.python is not None,
        readers=DEFAULT_READERS if run.python else readers(names, run.locks),
        roofline=Roofline.limits(store.roofline, store.ceilings),
        again=partial(ceilings.again, store, run.workloads) if file.target == "cpu" else None,
    )
