"""Makes one result set of the shares of a plan, each of which was measured on a machine of its own."""

from __future__ import annotations

import hashlib
import shlex
import shutil
from collections.abc import Collection, Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from itertools import chain
from pathlib import Path

from suite.errors import COMMAND, UserError
from suite.guard import plain_files
from suite.plan import layout
from suite.plan.shards import Shard, digest
from suite.sets import manifest
from suite.sets.comparability import OF_KIND, machines_differ
from suite.sets.files import sole
from suite.sets.plan import PlanFile
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row
from suite.stacks.catalog import STACKS

# Fields of the plan, and of the plan file, that are equal in all shares of one plan, with their names in words.
COMMON_PLAN = {
    "whole": "plan",
    "seed": "seed",
    "protocol": "protocol",
    "baseline": "baseline",
    "twin": "A/A twin",
    "purpose": "purpose",
    "exhaustive": "exhaustive",
    "vary": "varied dim",
}
COMMON_FILE = {
    "target": "target",
    "revision": "source revision",
    "change": "changes to the source",
    "engine": "engine",
    "python": "interpreter",
}


def collect(folders: Collection[Path], results: Path) -> ResultSet:
    """Returns one set of all shares of a plan. If the same shares were collected before, returns that set.

    Raises UserError for a folder that isn't a whole and unchanged share, that has links, or whose attempts or rows
    don't follow from its plan; for a share that is missing or given twice; and for shares of different plans or of
    unlike machines.
    """
    with ExitStack() as stack:
        for folder in sorted({folder.resolve() for folder in folders}):
            stack.enter_context(sole(folder))
        shares = in_order([*map(opened, folders)])
        for other in shares[1:]:
            check_alike(shares[0], other)
        file = whole_of(shares)
        folder = results / file.plan.set_id
        stack.enter_context(sole(folder))
        if not folder.exists():
            draft = results / f".{folder.name}.collecting"
            shutil.rmtree(draft, ignore_errors=True)  # left by a collect that was cut short
            try:
                put_together(ResultSet.create(draft, file), shares)
                draft.rename(folder)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
        return ResultSet.open(folder)


def opened(folder: Path) -> ResultSet:
    store = ResultSet.open(folder)
    if not store.plan.shard:
        raise UserError(f"{folder} is no share of a plan. `{COMMAND} run --shard=1/2` makes one.")
    problems = store.problems()
    if problems:
        raise UserError(f"{folder} can't be collected: {'; '.join(problems[:3])}.")
    check_content(store)
    return store


def check_content(store: ResultSet) -> None:
    """Raises UserError for a share that has links, which could lead outside it; a stack that this program doesn't know;
    attempts other than those of its plan; or rows of cases, a set or a machine other than its own."""
    plan, machine = store.plan, store.machine.get("machine_id")
    try:
        plain_files.check_tree(store.folder.resolve())
    except OSError as odd:
        raise UserError(f"{store.folder} can't be collected: {odd.filename}: {odd.strerror}.") from None
    strange = sorted({planned.case.stack for planned in plan.cases} - STACKS.keys())
    if strange:
        raise UserError(
            f"{store.folder} can't be collected: this program doesn't know the stack {strange[0]}. "
            "Name its adapter with --stack-path=FILE."
        )
    if store.plan_file.attempts != tuple(layout.attempts(plan)):
        raise UserError(f"{store.folder} can't be collected: its attempts aren't those of its plan.")
    cases = {planned.case.case_id for planned in plan.cases}
    for row in store.rows():
        belongs = {
            "case": row["case_id"] in cases and row.case.case_id == row["case_id"],
            "set": row["set_id"] == plan.set_id,
            "machine": row["machine_id"] in (machine, None),  # None: the row has no process
        }
        foreign = [word for word, is_own in belongs.items() if not is_own]
        if foreign:
            raise UserError(
                f"{store.folder} can't be collected: it has a row of another {foreign[0]}, {row['case_name']}."
            )


def in_order(shares: Sequence[ResultSet]) -> list[ResultSet]:
    """Returns the shares ordered by number. Raises UserError if a share is missing, or was measured twice."""
    if not shares:
        raise UserError(f"No share is given. Name the set of each machine: `{COMMAND} collect results/A results/B`.")
    by_index: dict[int, ResultSet] = {}
    of = Shard.parse(shares[0].plan.shard).of
    for store in shares:
        shard = Shard.parse(store.plan.shard)
        if shard.of != of:
            raise UserError(f"{shares[0].folder} is one of {of} shares, {store.folder} one of {shard.of}.")
        other = by_index.setdefault(shard.index, store)
        if other.plan.set_id != store.plan.set_id:
            raise UserError(f"{other.folder} and {store.folder} are both share {shard}: name one of them.")
    missing = [str(Shard(index, of)) for index in range(1, of + 1) if index not in by_index]
    if missing:
        raise UserError(
            f"Shares are missing: {', '.join(missing)}. Nothing is collected until all are given: without their rows, "
            "the missing cases would look as if they had never been planned."
        )
    return [by_index[index] for index in sorted(by_index)]


def check_alike(first: ResultSet, other: ResultSet) -> None:
    differing = [word for name, word in COMMON_PLAN.items() if getattr(first.plan, name) != getattr(other.plan, name)]
    files = first.plan_file, other.plan_file
    differing += [word for name, word in COMMON_FILE.items() if getattr(files[0], name) != getattr(files[1], name)]
    mine, theirs = (input_digests(store) for store in (first, other))
    differing += [name for name in sorted(mine.keys() & theirs.keys()) if mine[name] != theirs[name]]
    if differing:
        raise UserError(
            f"{first.folder} and {other.folder} aren't shares of one run: they differ in {', '.join(differing)}."
        )
    unlike = machines_differ(first.machine, other.machine, OF_KIND)
    here, there = devices_of([first]), devices_of([other])
    unlike += ["device"] if here and there and here != there else []
    if unlike:
        raise UserError(
            f"{first.folder} and {other.folder} were measured on unlike machines: they differ in "
            f"{', '.join(unlike)}. Their times can't stand on one page."
        )


def devices_of(shares: Iterable[ResultSet]) -> set[str]:
    """Returns the names of the accelerators that frameworks reported in the rows of these shares; none for CPUs, which
    frameworks don't report."""
    rows = (row for store in shares if store.plan_file.target != "cpu" for row in store.rows())
    return {row.reported_device for row in rows} - {""}


def input_digests(store: ResultSet) -> dict[str, str]:
    """Returns {file: sha256} of a share's inputs: locks, preset, workloads and changes to the source."""
    listed = manifest.read(store.folder).files
    return {name: file.sha256 for name, file in listed.items() if name.startswith("inputs/")}


def whole_of(shares: Sequence[ResultSet]) -> PlanFile:
    """Returns the plan file of the whole plan. Raises UserError if the shares' cases aren't exactly those of the whole
    plan.

    The set's id has a digest of the shares' content. So collecting the same shares again gives the same id, and
    collecting them after one of them was completed gives another id.
    """
    files = [store.plan_file for store in shares]
    first, names = files[0], [file.plan.set_id for file in files]
    content = hashlib.sha256(" ".join(manifest.read(store.folder).name for store in shares).encode()).hexdigest()
    stamp = min(names)[: len("20260102-030405")]
    plan = replace(
        first.plan,
        set_id=f"{stamp}-collected-{first.target}-{content[:4]}",
        cases=tuple(chain.from_iterable(file.plan.cases for file in files)),
        shard="",
    )
    ids = [planned.case.case_id for planned in plan.cases]
    if len(set(ids)) != len(ids) or digest(plan) != plan.whole:
        raise UserError("These shares aren't together the plan to which they belong: they overlap, or lack cases.")
    return replace(
        first,
        plan=plan,
        created_at=min(file.created_at for file in files),
        command=shlex.join(word for word in shlex.split(first.command) if not word.startswith("--shard=")),
        options=tuple(word for word in first.options if not word.startswith("--shard=")),
        attempts=tuple(chain.from_iterable(file.attempts for file in files)),
        locks={name: lock for file in files for name, lock in file.locks.items()},
        units={name: unit for file in files for name, unit in file.units.items()},
        collected=tuple(names),
    )


def put_together(store: ResultSet, shares: Sequence[ResultSet]) -> None:
    """Writes the rows, block records, programs and inputs of all shares into the set. As its machine, the set describes
    that of the first share, because all are alike. But even alike machines differ in roofline and ceilings, so these
    are kept only if there is just one share."""
    for share in shares:
        store.adopt(share)
    store.machine = shares[0].machine
    if len(shares) == 1:
        store.roofline, store.ceilings = shares[0].roofline, shares[0].ceilings
    store.write_rows(merged(shares))
    store.seal()


def merged(shares: Iterable[ResultSet]) -> list[Row]:
    """Returns the rows of all shares, each once."""
    rows = chain.from_iterable(share.rows() for share in shares)
    return [*{(*row.place, row["retry"]): row for row in rows}.values()]
