"""How a run begins: what was asked becomes a plan and an engine, then a new result set, or one that is completed."""

from __future__ import annotations

import datetime
import hashlib
import re
import secrets
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from suite.case import Case, Planned
from suite.environments import foreign, say, venv
from suite.environments.checkout import git
from suite.environments.locks import CHOSEN, lock_path, lock_sha256, take, variants
from suite.environments.variants import BORROWED as BORROWED_FLAGS
from suite.environments.variants import expanded, flags
from suite.errors import COMMAND, UserError, unknown
from suite.launch.attempt import spare_bytes
from suite.launch.engine import ROOT
from suite.machine import devices, facts
from suite.machine.roofline import Roofline
from suite.plan.fits import Fit, fits_of, predicted
from suite.plan.memory import check_limits
from suite.plan.plan import Plan
from suite.plan.planning import Selection, make, unsupported
from suite.plan.preset import Preset
from suite.plan.shards import Shard, share
from suite.results import load
from suite.results.store.files import sha256
from suite.results.store.plan_file import PlanFile
from suite.results.store.result_set import ResultSet
from suite.results.store.schema import SCHEMA_VERSION
from suite.run import engines
from suite.run.runner import READER, Runner
from suite.stacks.catalog import STACKS, environment_of
from suite.workloads.catalog import Workload, find


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """What is asked, understood: cases in blocks, their workloads, and the engine that runs them."""

    plan: Plan
    workloads: dict[str, Workload]
    workload_paths: tuple[Path, ...]
    target: str
    engine: engines.Choice
    python: str | None
    scheduler: str = ""


def prepare(
    preset: Preset,
    selection: Selection,
    *,
    baseline: str | None = None,
    engine: str = engines.AUTO,
    python: str | None = None,
    workload_paths: Sequence[Path] = (),
    fits: str | None = None,
    build: bool = True,
    shard: Shard | None = None,
    scheduler: str = "",
) -> Run:
    """What is asked, refused where it is mistyped. Nothing is measured, but with `build` images may be built."""
    facts.refuse_platform()
    target, workloads = selection.target, find(workload_paths)
    selection = with_variants(selection, preset)
    python = engines.interpreter(python, engine) if python else None
    name = preset.name if shard is None else f"{preset.name}-{shard.index}of{shard.of}"
    plan = partial(shared, shard, new_set_id(name, target), preset, selection, workloads, baseline)
    # Twice: mistakes are refused before an image is built, and what is lacking depends on the engine.
    first = plan(lambda stack, variant, target: None if scheduler else devices.missing().get(target))
    if not first.cases:
        raise UserError("Nothing is selected: no workload of the preset matches the options.")
    for name in {environment_of(p.case.stack, p.case.variant) for p in first.cases if p.case.variant}:
        if lock_sha256(name, target) is None:
            raise unknown(f"lock or flags on {target} for the variant", name, variants(target))
    check_limits(first.cases, facts.memory().get("ram_bytes", 0))
    choice = engines.choose(engine, needed(first), target, python, build=build and not scheduler)
    if python is None and choice.client is None:
        if build and not scheduler:
            for refused in venv.get_pythons(needed(first), target):
                say(refused)
        for sentence in venv.chosen(needed(first), target):
            say(sentence)
    # What other machines lack, they say themselves; that there is no lock is known here.
    absent = engines.unlocked if scheduler else partial(engines.absent, engine=choice, python=python)
    made = plan(absent)
    if fits is not None:
        made = replace(made, cases=predicted(made.cases, curves(Path(fits)), spare_bytes()))
    return Run(
        plan=made,
        workloads=workloads,
        workload_paths=tuple(workload_paths),
        target=target,
        engine=choice,
        python=python,
        scheduler=scheduler,
    )


def with_variants(selection: Selection, preset: Preset) -> Selection:
    """The stacks that are asked for, variants by name. Raises UserError for one that isn't there."""
    stacks = selection.stacks or preset.stacks
    return replace(selection, stacks=expanded(stacks, selection.target, every=selection.variants))


def shared(shard: Shard | None, *asked: Any) -> Plan:
    """The plan of what is asked, or one machine's share of it."""
    plan = make(*asked)
    return plan if shard is None or not plan.cases else share(plan, shard)


def curves(path: Path) -> list[Fit]:
    """The curves of a set's memory processes. Raises UserError if it has none that can be trusted."""
    loaded = load(path)
    found = fits_of(loaded.analysis().memory, loaded.plan.set_id if loaded.plan else path.name)
    if not found:
        raise UserError(f"--fits={path}: no curve goes through this set's peaks; `{COMMAND} frontier` makes some.")
    return found


def needed(plan: Plan) -> list[str]:
    """The environments of the cases that can run, variants included; JAX's reads what the others hand to XLA, and
    traces in XLA's format."""
    found = {environment_of(p.case.stack, p.case.variant) for p in plan.cases if not p.unsupported}
    return sorted(found | ({STACKS[READER].environment} if found and (plan.programs() or plan.profiles()) else set()))


def new_set_id(name: str, target: str) -> str:
    """Sorts by time: `20260102-030405-quick-cpu-1a2b`."""
    stamp = datetime.datetime.now(datetime.UTC).strftime("%Y%m%d-%H%M%S")
    # A preset's file may be called anything; a set's name is part of files' names and of commands.
    plain = re.sub(r"[^\w.+-]", "_", name)
    return f"{stamp}-{plain}-{target}-{secrets.token_hex(2)}"


def create(run: Run, preset: Path | None, command: str, results: Path) -> ResultSet:
    """The new result set: the plan first, then what it takes to run it again. `preset`: its file, None for a plan that
    was taken from another set."""
    store = ResultSet.create(results / run.plan.set_id, describe(run, command))
    store.machine = facts.machine()
    if preset is not None:
        store.keep(preset)
    for name in store.plan.locks:
        store.keep(lock_path(name, run.target), store.lock_copy(name).name)
    for name in {planned.case.workload for planned in run.plan.cases}:
        folder = run.workloads[name].folder
        if not folder.is_relative_to(ROOT / "suite"):  # no revision of ours has it
            store.keep(folder, f"workloads/{name}")
    store.keep_source(git("rev-parse", "HEAD"), git("diff", "HEAD"))
    return store


def describe(run: Run, command: str) -> PlanFile:
    """The plan as it is written: all planned attempts of the first stage, and every constant in force."""
    plan = run.plan
    # An interpreter of the user's own runs what no lock pins.
    locked = [] if run.python else [name for name in needed(plan) if lock_sha256(name, run.target)]
    return PlanFile(
        schema_version=SCHEMA_VERSION,
        set_id=plan.set_id,
        created_at=datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds"),
        command=command,
        target=run.target,
        engine=run.engine.name,
        python=run.python,
        workload_paths=tuple(map(str, run.workload_paths)),
        protocol=plan.protocol,
        baseline=plan.baseline,
        twin=plan.twin,
        seed=plan.seed,
        machine_id=facts.machine_id(),
        cores=tuple(facts.usable_cores()),
        cases=plan.cases,
        attempts=tuple(plan.attempts()),
        purpose=plan.purpose,
        exhaustive=plan.exhaustive,
        vary=plan.vary,
        shard=plan.shard,
        whole=plan.whole,
        scheduler=run.scheduler,
        units={name: run.workloads[name].unit for name in {planned.case.workload for planned in plan.cases}},
        locks={name: lock_sha256(name, run.target) for name in locked},
        fallbacks={name: words for name in locked if (words := venv.fallback(name, run.target))},
        flags={name: found for name in locked if (found := flags(name, run.target))},
        revision=git("rev-parse", "HEAD").strip() or None,
        dirty=bool(git("status", "--porcelain").strip()),
        change=changed(),
    )


def reopen(path: Path, *, trust: bool = False) -> tuple[ResultSet, Run]:
    """A result set to complete. Refused on another machine or with other locks: those are never paired. Refused, too,
    without `trust`, if it wasn't begun here: its plan says which interpreter runs and whose workloads."""
    facts.refuse_platform()
    store = ResultSet.open(path)
    file = store.plan
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
            f"{path} is whole, and what its machines had sent is no longer beside it: there is nothing to complete."
        )
    if file.machine_id != facts.machine_id() and not file.scheduler:
        other = facts.changed(store.machine)
        which = f" ({', '.join(other)} differ)" if other else ""
        raise UserError(f"{path} was begun on another machine{which}; results of two machines are never paired.")
    for name, lock in file.locks.items():
        if lock is not None and not take(name, file.target, lock):
            raise UserError(
                f"{path} was begun with another lock of environment '{name}' "
                f"({store.lock_copy(name)}). Restore it, or begin a new run."
            )
        if flags(name, file.target) != dict(file.flags.get(name, {})):
            raise UserError(f"{path} was begun with other flags of variant '{name}'. Restore them, or begin a new run.")
    plan = plan_of(file, file.cases, file.set_id)
    paths = tuple(map(Path, file.workload_paths))
    engine = engines.choose(file.engine, needed(plan), file.target, file.python, build=not file.scheduler)
    return store, Run(
        plan=plan,
        workloads=find(paths),
        workload_paths=paths,
        target=file.target,
        engine=engine,
        python=file.python,
        scheduler=file.scheduler,
    )


def changed() -> str:
    """The sha256 of what was changed in the source since its revision; empty where nothing was."""
    change = git("diff", "HEAD")
    return hashlib.sha256(change.encode()).hexdigest() if change else ""


def plan_of(file: PlanFile, cases: tuple[Planned, ...], set_id: str) -> Plan:
    """What stands in a set's plan, to be carried out."""
    return Plan(
        set_id,
        cases,
        file.protocol,
        file.baseline,
        file.twin,
        file.seed,
        file.purpose,
        file.exhaustive,
        file.vary,
        file.shard,
        file.whole,
    )


def strange(store: ResultSet) -> list[str]:
    """What a set would have installed or told to frameworks that isn't this project's, a sentence each. Raises Damaged
    for a lock that says anything but packages, versions and hashes."""
    target, told = store.plan.target, []
    for name, digest in store.plan.locks.items():
        copy = store.lock_copy(name)
        if digest is None or not copy.is_file() or sha256(copy) != digest:
            continue
        foreign.check_lock(copy)
        if not foreign.is_ours(copy, name, target):
            changes = "; ".join(foreign.differences(copy, name, target))
            told.append(f"packages of environment {name} by a lock that this checkout doesn't know: {changes}")
    for name, variables in store.plan.flags.items():
        for variable, value in foreign.strange_variables(name, target, variables).items():
            told.append(f"{variable}={shlex.quote(value)} for the processes of {name}")
    return told


def again(store: ResultSet, engine: str, workload_paths: Sequence[Path] = ()) -> Run:
    """A set's plan, to be run here as a new set: with its own locks, seeds and constants. Raises UserError, naming all
    that can't be had here. Workloads of a set's own are code: they are taken from `workload_paths`, never from it.
    Which engine, interpreter and scheduler it had is true of there, and says nothing about here."""
    facts.refuse_platform()
    file, workloads = store.plan, find(workload_paths)
    lacking = [*borrow(store), *wanting(file, workloads)]
    if lacking:
        raise UserError(f"{store.folder} can't be reproduced here for want of: {'; '.join(lacking)}.")
    choice = engines.choose(engine, list(file.locks), file.target, None, build=True)
    plan = plan_of(file, judged_here(file, workloads, choice), new_set_id("reproduction", file.target))
    return Run(
        plan=plan,
        workloads=workloads,
        workload_paths=tuple(workload_paths),
        target=file.target,
        engine=choice,
        python=None,
    )


def judged_here(file: PlanFile, workloads: Mapping[str, Workload], choice: engines.Choice) -> tuple[Planned, ...]:
    """The cases of a plan that another machine made, with what this one lacks for them."""
    absent = partial(engines.absent, engine=choice, python=file.python)
    return tuple(
        replace(planned, unsupported=unsupported(planned.case, workloads[planned.case.workload], absent))
        for planned in file.cases
    )


def wanting(file: PlanFile, workloads: Mapping[str, Workload]) -> list[str]:
    """What a plan needs that isn't here, but for its locks."""
    cores, most = len(facts.usable_cores()), max((planned.case.threads for planned in file.cases), default=0)
    names = sorted({planned.case.workload for planned in file.cases} - workloads.keys())
    unfit = dict.fromkeys(words for planned in file.cases if (words := misfit(planned.case, workloads)))
    return [
        *([f"{file.python}, an interpreter that no lock pins"] if file.python else []),
        *([f"{most} cores (this machine has {cores})"] if most > cores else []),
        *(f"the workload {name}, code of its own: read it in inputs/workloads, then --workload-path" for name in names),
        *unfit,
    ]


def misfit(case: Case, workloads: Mapping[str, Workload]) -> str | None:
    """Why a case of a plan can't be asked by this version; None where it can, or where its workload isn't here."""
    if case.stack not in STACKS:
        return f"the stack {case.stack}"
    if case.workload not in workloads:
        return None
    workload = workloads[case.workload]
    try:
        whole = workload.dims(next(iter(workload.sizes)), case.dims)
    except UserError as broken:
        return f"dims that this version's {case.workload} takes ({str(broken).rstrip('.')})"
    lacking = ", ".join(sorted(whole.keys() - case.dims.keys()))
    return f"the dims {lacking} of {case.workload}" if lacking else None


def borrow(store: ResultSet) -> list[str]:
    """Let environments be made from a set's own locks where ours differ; what it has no copy of."""
    lacking = []
    BORROWED_FLAGS.update({(name, store.plan.target): found for name, found in store.plan.flags.items()})
    for name, digest in store.plan.locks.items():
        if digest is None or take(name, store.plan.target, digest):
            continue
        copy = store.lock_copy(name)
        if copy.is_file() and sha256(copy) == digest:
            CHOSEN[name, store.plan.target] = copy.absolute()
        else:
            lacking.append(f"the lock of environment {name} ({digest[:12]})")
    return lacking


def runner(store: ResultSet, run: Run) -> Runner:
    """Runs the attempts of a plan on its engine."""
    provide = engines.provider(run.engine, needed(run.plan), run.target, run.plan.set_id, run.python)
    return Runner(
        run.plan,
        store,
        run.workloads,
        provide,
        store.plan.machine_id,
        list(store.plan.cores),
        run.engine.name,
        store.plan.flags,
        unpinned=run.python is not None,
        roofline=Roofline.of(store.roofline, store.ceilings),
    )
