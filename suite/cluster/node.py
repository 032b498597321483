"""What a machine does of a plan that another one has made: its comparisons, one at a time, each as a set of its own."""

from __future__ import annotations

import io
import shutil
import tempfile
import zipfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from suite.case import Attempt, Purpose
from suite.environments import venv
from suite.environments.checkout import git
from suite.environments.locks import take
from suite.launch.container import sweep
from suite.machine import devices, facts, noise
from suite.plan.shards import Shard, share
from suite.results.store.plan_file import PlanFile
from suite.results.store.result_set import ResultSet
from suite.results.store.rows import Row
from suite.run import ceilings, engines
from suite.run.session import Session
from suite.run.start import Run, changed, describe, judged_here, needed, plan_of, runner, wanting
from suite.workloads.catalog import find


class Silent:
    """Nobody watches a machine of many: what it has to say is told where the run was asked for."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def block_starts(self, number: int, blocks: int, attempts: int) -> None:
        """Nothing to say."""

    def attempt_starts(self, attempt: Attempt) -> None:
        """Nothing to say."""

    def attempt_ends(self, row: Row) -> None:
        """Nothing to say: the row goes with the share."""

    def note(self, text: str) -> None:
        """Something that a person should know."""
        self.notes.append(text)


def ready(fields: dict[str, Any]) -> dict[str, Any]:
    """Make what a plan needs on this machine; its facts, why each case can't run on it, and in `lacking` why nothing
    can."""
    file = PlanFile.from_json(fields)
    lacking = wanting(replace(file, python=None), find([*map(Path, file.workload_paths)]))
    lacking += [] if file.python is None or shutil.which(file.python) else [f"the interpreter {file.python}"]
    lacking += [
        f"its locks of {name} (this checkout has others)"
        for name, digest in file.locks.items()
        if digest is not None and not take(name, file.target, digest)
    ]
    if (git("rev-parse", "HEAD").strip() or None) != file.revision:
        lacking.append(f"revision {file.revision} of this program")
    if changed() != file.change:
        lacking.append("the changes to the source that are where the run was asked for")
    if missing := devices.missing().get(file.target):
        lacking.append(missing)
    reasons: dict[str, str | None] = {}
    if not lacking:
        run = taken(file)
        reasons = {each.case.case_id: each.unsupported for each in run.plan.cases}
        if run.engine.client is None and file.python is None:
            for name in needed(run.plan):
                venv.ensure(name, file.target)
        ceiling(file)
    return {"machine": facts.machine(), "unsupported": reasons, "lacking": lacking}


def taken(file: PlanFile) -> Run:
    """A plan that another machine has made, with what this one has."""
    paths = tuple(map(Path, file.workload_paths))
    workloads = find(paths)
    choice = engines.choose(file.engine, list(file.locks), file.target, file.python, build=True)
    plan = plan_of(file, judged_here(file, workloads, choice), file.set_id)
    return Run(
        plan=plan, workloads=workloads, workload_paths=paths, target=file.target, engine=choice, python=file.python
    )


def measure(fields: dict[str, Any], shard: Shard, force: bool) -> tuple[bytes, list[str]]:
    """Carry out one share: its set, packed, and what a person should know of it. Raises UserError."""
    file, heard = PlanFile.from_json(fields), Silent()
    run = taken(file)
    if run.engine.client is not None:
        heard.notes += [f"Removed the container that a lost task had left: {case}" for case in sweep(run.engine.client)]
    part = share(run.plan, shard)
    run = replace(run, plan=replace(part, set_id=f"{file.set_id}-{shard.index}of{shard.of}"))
    with noise.alone(len(facts.usable_cores()), force) as disturbances, tempfile.TemporaryDirectory() as scratch:
        heard.notes += disturbances
        store = ResultSet.create(Path(scratch) / run.plan.set_id, describe(run, file.command))
        store.machine = facts.machine()
        if taken_ceiling := ceiling(file):
            store.ceilings = [taken_ceiling]
        Session(runner(store, run), heard).run()
        return packed(store.folder), heard.notes


def ceiling(file: PlanFile) -> dict[str, Any]:
    """What this machine reaches, measured once a run; empty where only times would be held against it."""
    if file.target != "cpu" or file.purpose is not Purpose.TIMED:
        return {}
    return reading(file.set_id, tuple(facts.usable_cores()))


@cache
def reading(set_id: str, cores: Sequence[int]) -> dict[str, Any]:
    """For one run, in this process."""
    return ceilings.reading(tuple(cores))


def packed(folder: Path) -> bytes:
    """A set's folder as an archive: folders and plain files, since what a worker may have linked to isn't the set's."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(folder.rglob("*")):
            if not path.is_symlink() and (path.is_dir() or path.is_file()):
                archive.write(path, path.relative_to(folder))
    return data.getvalue()


@contextmanager
def unpacked(data: bytes, folder: Path) -> Iterator[Path]:
    """A share, to be looked at before it is put into its folder: whole, or not at all where that raises."""
    folder.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".coming-") as draft:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:  # makes no links, and nothing outside the folder
            archive.extractall(Path(draft) / "set")
        yield Path(draft) / "set"
        (Path(draft) / "set").rename(folder)
