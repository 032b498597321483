"""Turns what options and a preset ask into a run: a plan of what can run here, its engine and its locks."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from suite.case import Planned
from suite.environments import revisions, say, venv
from suite.environments.locks import Locks, impossible, newest, variants
from suite.environments.variants import expanded
from suite.errors import COMMAND, UserError, unknown
from suite.launch.attempt import spare_bytes
from suite.machine import devices, facts
from suite.plan.memory import check_limits
from suite.plan.planning import Selection, choose_stacks, make
from suite.plan.predictions import predictions
from suite.plan.preset import Preset
from suite.plan.refusals import Absent
from suite.plan.shards import Shard, share
from suite.predict.devices import Device
from suite.run.start import engines
from suite.run.start.packages import asked_packages, on_top
from suite.run.start.run import Run, needed, new_set_id
from suite.sets.plan import Plan
from suite.stacks.catalog import Stack, environment_of
from suite.workloads.catalog import Workload, find


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
    machine: str = "",
    models: Sequence[Device] = (),
) -> Run:
    """Returns the run. Raises UserError for what is mistyped or can't be had. Nothing is measured, but with `build`
    Pythons may be installed and images built."""
    facts.refuse_platform()
    target, workloads = selection.target, find(workload_paths)
    selection = with_variants(selection, preset)
    python = engines.interpreter(python, engine) if python else None
    build = build and not scheduler  # other machines install and build what they need
    name = preset.name if shard is None else f"{preset.name}-{shard.index}of{shard.of}"
    set_id = new_set_id(name, target)

    def planned(absent: Absent) -> Plan:
        plan = make(set_id, preset, selection, workloads, baseline, absent)
        return share(plan, shard) if shard is not None and plan.cases else plan

    # The plan is made twice: first to refuse mistakes before an image is built, then with what the chosen engine lacks.
    def known(stack: Stack, variant: str, target: str) -> str | None:
        return None if scheduler else devices.missing().get(target) or impossible(stack.environment)

    draft = planned(known)
    check_selected(draft, target)
    if python:
        selection = installed(selection, preset, draft, python)
        draft = planned(known)
    if not scheduler:
        check_limits(draft.cases, facts.memory(), is_inside=False)
    choice, locks = chosen(engine, draft, workloads, target, python, build=build)
    if not scheduler and choice.name == engines.LOCAL:
        check_limits(draft.cases, facts.memory())
    # Other machines find out themselves what they lack; a missing lock is known here.
    here = partial(engines.absent, locks=locks, engine=choice, python=python)
    plan = planned(engines.unlocked if scheduler else here)
    if fits is not None:
        plan = replace(plan, cases=with_fits(plan.cases, Path(fits)))
    if models:
        plan = replace(plan, predictions=predictions(plan, models, workloads))
    return Run(
        plan=plan,
        workloads=workloads,
        workload_paths=tuple(workload_paths),
        locks=locks,
        engine=choice,
        python=python,
        scheduler=scheduler,
        machine=machine,
    )


def with_variants(selection: Selection, preset: Preset) -> Selection:
    stacks = selection.stacks or preset.stacks
    return replace(selection, stacks=expanded(stacks, selection.target, every=selection.variants))


def installed(selection: Selection, preset: Preset, draft: Plan, python: str) -> Selection:
    """Returns the selection without the stacks whose packages the user's own interpreter lacks, and says which these
    are. Raises UserError if none remains."""
    stacks = choose_stacks(selection.stacks or preset.stacks, selection.target)
    stack_of = {name: re.split("[@:]", name)[0] for name in stacks}
    asked = list(dict.fromkeys(of.case.stack for of in draft.cases))
    lacking = engines.lacking(python, dict.fromkeys((*asked, *stack_of.values())))
    out = [f"{name} ({lacking[name]})" for name in asked if name in lacking]
    if len(out) == len(asked):
        raise UserError(f"{python} has the packages of none of these stacks: {', '.join(out)}.")
    if out:
        say(f"Left out, since {python} lacks their packages: {', '.join(out)}.")
    return replace(selection, stacks=tuple(name for name in stacks if stack_of[name] not in lacking))


def check_selected(plan: Plan, target: str) -> None:
    if not plan.cases:
        raise UserError("Nothing is selected: no workload of the preset matches the options.")
    for name in {environment_of(p.case.stack, p.case.variant) for p in plan.cases if p.case.variant}:
        if not newest(name, target).exists:
            raise unknown("variant", name, variants(target), of=f"Target {target}")


def chosen(
    engine: str, plan: Plan, workloads: Mapping[str, Workload], target: str, python: str | None, *, build: bool
) -> tuple[engines.Choice, Locks]:
    """Returns the engine of a plan and its locks: for images the newest, for virtual environments the newest that this
    machine can make; with what question files ask for on top, for which `auto` makes no image."""
    names, locks = needed(plan), Locks(target)
    asked = asked_packages(plan, workloads, target) if python is None and build else {}
    if engine == engines.DOCKER:
        locks = on_top(locks, asked)
    wanted = engines.LOCAL if asked and engine == engines.AUTO else engine
    choice = engines.choose(wanted, names, locks, python, build=build)
    if python is not None or choice.client is not None:
        return choice, locks
    for refused in venv.get_pythons(names, target) if build else ():
        say(refused)
    locks = venv.fitting(names, locks)
    for sentence in venv.fallbacks(names, locks):
        say(sentence)
    locks = on_top(locks, asked)
    for name in names if build else ():
        if (revision := revisions.of(name)) and revision.install:
            revisions.installed(revision, locks.of(name))
    return choice, locks


def with_fits(cases: Iterable[Planned], path: Path) -> tuple[Planned, ...]:
    """Returns cases, with a reason where the peaks of the set at `path` say that one can't fit."""
    from suite.plan.fits import fits_of, predicted  # what reads other sets is imported where it is asked for
    from suite.plan.search.capacity import memory_of
    from suite.results import load

    loaded = load(path)
    fits = fits_of(memory_of(loaded.analysis()), loaded.plan.set_id if loaded.plan else path.name)
    if not fits:
        raise UserError(f"--fits={path}: no curve fits this set's peaks. `{COMMAND} frontier` measures more of them.")
    return predicted(cases, fits, spare_bytes())
