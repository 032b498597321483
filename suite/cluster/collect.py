"""The shares of one plan, each measured on a machine of its own, become one result set."""

from __future__ import annotations

import dataclasses
import hashlib
import shlex
import shutil
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextlib import ExitStack
from itertools import chain
from pathlib import Path
from typing import Any

from suite.errors import COMMAND, UserError
from suite.guard import plain_files
from suite.plan.shards import Shard, digest
from suite.results.store import manifest
from suite.results.store.one_command import sole
from suite.results.store.parquet.reader import read_parquet
from suite.results.store.plan_file import PlanFile
from suite.results.store.result_set import ResultSet
from suite.results.store.rows import Row
from suite.run import start

# What two machines must have in common for their times to stand on one page, in words.
CLASS = {
    "cpu_model": "processor",
    "cpu_family_model_stepping": "processor",
    "cpu_flags": "instructions",
    "cores_online": "cores",
    "cores_usable": "usable cores",
    "caches": "caches",
    "ram_bytes": "memory",
}
RAM_STEP = 2**30  # two machines of one kind differ by what their kernels keep for themselves
COMMON = {
    "whole": "plan",
    "seed": "seed",
    "protocol": "protocol",
    "baseline": "baseline",
    "twin": "A/A twin",
    "purpose": "purpose",
    "exhaustive": "exhaustive",
    "vary": "varied dim",
    "target": "target",
    "revision": "source revision",
    "change": "changes to the source",
    "engine": "engine",
    "python": "interpreter",
}


def collect(folders: Collection[Path], results: Path) -> ResultSet:
    """One set of all shares of a plan; the one that is there, if they were collected before.

    Raises UserError for what is no share, isn't whole, was changed since or has what isn't its own; for shares that are
    missing, there twice, of unlike plans or of unlike machines.
    """
    with ExitStack() as stack:
        for folder in sorted({folder.resolve() for folder in folders}):
            stack.enter_context(sole(folder))
        shares = in_order([*map(opened, folders)])
        for other in shares[1:]:
            check_alike(shares[0], other)
        plan = plan_of(shares)
        folder = results / plan.set_id
        stack.enter_context(sole(folder))
        if not folder.exists():
            draft = results / f".{plan.set_id}.collecting"
            shutil.rmtree(draft, ignore_errors=True)  # of one that was cut short
            try:
                put_together(ResultSet.create(draft, plan), shares)
                draft.rename(folder)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
        return ResultSet.open(folder)


def opened(folder: Path) -> ResultSet:
    """A share. Raises UserError for any other folder."""
    store = ResultSet.open(folder)
    if not store.plan.shard:
        raise UserError(f"{folder} is no share of a plan: `{COMMAND} run --shard=1/2` makes one.")
    problems = store.problems()
    if problems:
        raise UserError(f"{folder} can't be collected: {'; '.join(problems[:3])}.")
    check_own(store)
    return store


def check_own(store: ResultSet) -> None:
    """Raises UserError for a share that has more than its own: links, which would be followed; attempts that its plan
    doesn't give; rows of other cases, which would stand in for another share's, of another set or another machine."""
    plan, machine = store.plan, store.machine.get("machine_id")
    try:
        plain_files.check_tree(store.folder.resolve())
    except OSError as odd:
        raise UserError(f"{store.folder} can't be collected: {odd.filename}: {odd.strerror}.") from None
    if plan.attempts != tuple(start.plan_of(plan, plan.cases, plan.set_id).attempts()):
        raise UserError(f"{store.folder} can't be collected: its attempts aren't those of its plan.")
    cases = {planned.case.case_id for planned in plan.cases}
    for row in read_parquet(store.results_path):
        foreign = [
            word
            for word, is_own in (
                ("case", row["case_id"] in cases and row.case.case_id == row["case_id"]),
                ("set", row["set_id"] == plan.set_id),
                ("machine", row["machine_id"] in (machine, None)),  # what never ran has none
            )
            if not is_own
        ]
        if foreign:
            raise UserError(
                f"{store.folder} can't be collected: it has a row of another {foreign[0]}, {row['case_name']}."
            )


def in_order(shares: Sequence[ResultSet]) -> list[ResultSet]:
    """Each share once. Raises UserError where one is missing, or was measured twice."""
    if not shares:
        raise UserError(f"No share is named: `{COMMAND} collect results/A results/B`, one of each machine.")
    found: dict[int, ResultSet] = {}
    of = Shard.parse(shares[0].plan.shard).of
    for store in shares:
        shard = Shard.parse(store.plan.shard)
        if shard.of != of:
            raise UserError(f"{shares[0].folder} is one of {of} shares, {store.folder} one of {shard.of}.")
        other = found.setdefault(shard.index, store)
        if other.plan.set_id != store.plan.set_id:
            raise UserError(f"{other.folder} and {store.folder} are both share {shard}: name one of them.")
    missing = [str(Shard(index, of)) for index in range(1, of + 1) if index not in found]
    if missing:
        raise UserError(
            f"Shares are missing: {', '.join(missing)}. Nothing is collected before all are there, since "
            "a planned case without a row would look like one that nobody asked for."
        )
    return [found[index] for index in sorted(found)]


def check_alike(first: ResultSet, other: ResultSet) -> None:
    """Raises UserError for shares of unlike plans or machines."""
    differing = [word for name, word in COMMON.items() if getattr(first.plan, name) != getattr(other.plan, name)]
    mine, others = (inputs(store) for store in (first, other))
    differing += [name for name in sorted(mine.keys() & others.keys()) if mine[name] != others[name]]
    if differing:
        raise UserError(
            f"{first.folder} and {other.folder} aren't shares of one run: they differ in {', '.join(differing)}."
        )
    unlike = unlikeness(first.machine, other.machine)
    here, there = devices_of([first]), devices_of([other])
    unlike += ["device"] if here and there and here != there else []
    if unlike:
        raise UserError(
            f"{first.folder} and {other.folder} were measured on unlike machines: they differ in "
            f"{', '.join(unlike)}. Their times can't stand on one page."
        )


def unlikeness(first: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """In which facts of `CLASS` two machines differ, in words."""
    found = (word for name, word in CLASS.items() if comparable(name, first) != comparable(name, other))
    return list(dict.fromkeys(found))


def inputs(store: ResultSet) -> dict[str, str]:
    """The digests of what a share was made from: locks, preset, workloads of its own, changes to the source."""
    listed = manifest.read(store.folder).files
    return {name: each.digest for name, each in listed.items() if name.startswith("inputs/")}


def devices_of(shares: Iterable[ResultSet]) -> set[str]:
    """What frameworks say that they ran on; a processor has no name there."""
    rows = (row for store in shares if store.plan.target != "cpu" for row in read_parquet(store.results_path))
    return {str(found) for row in rows if (found := row.mapping("environment_facts").get("device"))}


def comparable(name: str, machine: Mapping[str, Any]) -> Any:
    """A fact; of lists whose order or numbers say nothing, what does."""
    value = machine.get(name)
    if name == "cores_usable":
        return len(value or ())
    if name == "ram_bytes":
        return round((value or 0) / RAM_STEP)
    return sorted(value) if isinstance(value, list) else value


def plan_of(shares: Sequence[ResultSet]) -> PlanFile:
    """The whole plan again. Its name is made of what is in the shares, so that collecting twice gives one set, and
    another one once a share was completed further. Raises UserError where the shares don't make the plan they say."""
    plans = [store.plan for store in shares]
    names = tuple(plan.set_id for plan in plans)
    content = " ".join(manifest.read(store.folder).name for store in shares)
    stamp = min(plan.set_id for plan in plans)[: len("20260102-030405")]
    words = [word for word in shlex.split(plans[0].command) if not word.startswith("--shard=")]
    whole = dataclasses.replace(
        plans[0],
        set_id=f"{stamp}-collected-{plans[0].target}-{hashlib.sha256(content.encode()).hexdigest()[:4]}",
        created_at=min(plan.created_at for plan in plans),
        command=shlex.join(words),
        cases=tuple(chain.from_iterable(plan.cases for plan in plans)),
        attempts=tuple(chain.from_iterable(plan.attempts for plan in plans)),
        locks={name: lock for plan in plans for name, lock in plan.locks.items()},
        units={name: unit for plan in plans for name, unit in plan.units.items()},
        shard="",
        collected=names,
    )
    ids = [planned.case.case_id for planned in whole.cases]
    if len(set(ids)) != len(ids) or digest(start.plan_of(whole, whole.cases, whole.set_id)) != whole.whole:
        raise UserError(
            "These shares don't make the plan that they say they are of: they overlap, or leave something out."
        )
    return whole


def merged(shares: Iterable[ResultSet]) -> list[Row]:
    """The rows of all, each once, whichever share brought it."""
    rows = chain.from_iterable(read_parquet(share.results_path) for share in shares)
    return [
        *{(row["case_id"], row["block"], row["replicate"], row["purpose"], row["retry"]): row for row in rows}.values()
    ]


def put_together(store: ResultSet, shares: Sequence[ResultSet]) -> None:
    """Rows, block records, programs and inputs of all. The first machine stands for all, since they are alike; what
    they were seen to reach is of one machine each, and isn't kept where there were several."""
    for share in shares:
        store.adopt(share)
    store.machine = shares[0].machine
    if len(shares) == 1:  # machines that are copies of one call themselves alike
        store.roofline, store.ceilings = shares[0].roofline, shares[0].ceilings
    store.write_rows(merged(shares))
    store.seal()
