"""Opens a result set that an earlier run has begun here, to complete it."""

from __future__ import annotations

from pathlib import Path

from suite.environments import ROOT, dependencies, say
from suite.environments.locks import Locks, all_locks
from suite.environments.variants import flags
from suite.errors import COMMAND, UserError
from suite.machine import facts
from suite.run.start import engines
from suite.run.start.run import Run, needed
from suite.sets.comparability import Consequence, differences, machine_facts
from suite.sets.plan import PlanFile
from suite.sets.result_set import ResultSet
from suite.stacks.catalog import add as add_stacks
from suite.workloads.catalog import Workload, find


def reopen(path: Path, *, trust: bool = False, machine: str = "") -> tuple[ResultSet, Run]:
    """Returns a set and the run that completes it. Raises UserError on another machine or with other locks, whose
    results are never paired with the set's; and, without `trust`, for a set that wasn't begun here: its plan names the
    interpreter and the workloads that would run."""
    facts.refuse_platform()
    store = ResultSet.open(path)
    file = store.plan_file
    check_origin(store, trust=trust)
    check_trees(store)
    if not file.scheduler:
        check_machine(store, machine)
    locks, missing = recorded(file)
    for name in file.locks:
        if name in missing:
            raise UserError(
                f"{path} was begun with another lock of environment '{name}' "
                f"({store.lock_copy(name)}). Restore it, or begin a new run."
            )
        if flags(name, file.target) != dict(file.flags.get(name, {})):
            raise UserError(f"{path} was begun with other flags of variant '{name}'. Restore them, or begin a new run.")
    workloads, paths = own_code(file)
    for name in file.code.keys() & workloads.keys():
        workloads[name].check_unchanged(file.code[name])
    return store, Run(
        plan=file.plan,
        workloads=workloads,
        workload_paths=paths,
        locks=locks,
        engine=engines.choose(file.engine, needed(file.plan), locks, file.python, build=not file.scheduler),
        python=file.python,
        scheduler=file.scheduler,
        machine=machine,
    )


def check_origin(store: ResultSet, *, trust: bool) -> None:
    path, file = store.folder, store.plan_file
    if not (store.begun_here or trust):
        raise UserError(
            f"{path} wasn't begun in this folder: it was fetched or copied. Its plan names programs that "
            f"would run. `{COMMAND} reproduce --set={path}` runs it as a new set, with this checkout's own "
            f"programs; if it is yours, `{COMMAND} run --resume={path} --trust`."
        )
    if file.collected:
        raise UserError(f"{path} was put together from shares: there is nothing to complete.")
    if file.scheduler and store.is_whole and not store.shares():
        raise UserError(
            f"{path} is whole, and the shares that its machines sent are no longer beside it: there is nothing to "
            "complete."
        )


def check_trees(store: ResultSet) -> None:
    """Raises UserError for a set that compares revisions of a repository: only whoever has that has their code."""
    if named := store.plan_file.revisions:
        raise UserError(
            f"{store.folder} compares {' with '.join(named)}, whose code isn't in the set. In their repository, "
            f"`{store.plan_file.command}` measures them anew."
        )


def check_machine(store: ResultSet, machine: str) -> None:
    """Raises UserError, with the facts that differ, if a set was begun on another machine. Says what else changed here
    since then."""
    now = facts.machine(machine)
    found = differences(machine_facts(store.machine), machine_facts(now))
    if store.plan_file.machine_id != now["machine_id"]:
        apart = [difference.text for difference in found if difference.consequence is Consequence.REFUSED]
        name = store.machine.get("name")
        if apart[1:]:
            which = f"they differ in: {', '.join(apart[1:])}"
        elif name:
            which = f"it was called {name} there: if this is that machine, add --machine={name}"
        else:
            which = (
                "the processor is equal, but /etc/machine-id or the host's name isn't, as in a new container. "
                "`--machine=NAME` gives a machine a lasting name, from a run's first command on"
            )
        raise UserError(f"{store.folder} was begun on another machine; results of two are never paired: {which}.")
    if found:
        say(f"Since this set was begun: {', '.join(difference.text for difference in found)}.")


def own_code(file: PlanFile) -> tuple[dict[str, Workload], tuple[Path, ...]]:
    """Adds the user's own stacks with which a plan was begun. Returns all workloads, and the places of the user's
    own."""
    add_stacks(ROOT / path for path in file.stack_paths)
    paths = tuple(ROOT / path for path in file.workload_paths)
    return find(paths), paths


def recorded(file: PlanFile) -> tuple[Locks, list[str]]:
    """Returns two things about the locks with which a plan was begun: those that this checkout has or made for a
    question, found by their digests, and the names of the environments whose lock it lacks."""
    digests = {name: digest for name, digest in file.locks.items() if digest is not None}
    paths = {
        name: lock.path
        for name, digest in digests.items()
        for lock in (*all_locks(name, file.target), *dependencies.kept(name, file.target))
        if lock.sha256 == digest
    }
    return Locks(file.target, paths), [name for name in digests if name not in paths]
