"""Measures comparisons of a run that was begun on another machine, one at a time. The result of each is a set, which is
sent back. This code runs on the machines of a Ray cluster."""

from __future__ import annotations

import io
import shlex
import shutil
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from suite.case import Purpose
from suite.environments import venv
from suite.environments.checkout import revision
from suite.launch.container import sweep
from suite.machine import devices, facts, noise
from suite.plan.shards import Shard, share
from suite.run import ceilings
from suite.run.session import Session
from suite.run.start.reopen import own_code, recorded
from suite.run.start.reproduce import run_of, wanting
from suite.run.start.run import Run, describe, needed, runner, source_change
from suite.sets.plan import PlanFile
from suite.sets.result_set import ResultSet


class Silent:
    """A listener that shows nothing of a run. It keeps the run's notes, which are printed on the machine where the run
    was begun."""

    def __init__(self) -> None:
        self.notes: list[str] = []

    def expects(self, *_: object, **__: object) -> None:
        """Does nothing: nobody watches this machine."""

    block_starts = attempt_starts = attempt_ends = stands = expects

    def note(self, text: str) -> None:
        self.notes.append(text)


def ready(fields: dict[str, Any]) -> dict[str, Any]:
    """Makes the environments that a plan needs. Returns this machine's facts (`machine`), the reasons why single cases
    can't run here (`unsupported`, by case id), and what this machine lacks to run any case (`lacking`)."""
    file = PlanFile.from_json(fields)
    lacking = wanting(replace(file, python=None), own_code(file)[0])
    lacking += [] if file.python is None or shutil.which(file.python) else [f"the interpreter {file.python}"]
    lacking += [f"its locks of {name} (this checkout has others)" for name in recorded(file)[1]]
    if (revision() or None) != file.revision:
        lacking.append(f"revision {file.revision} of this program")
    if source_change() != file.change:
        lacking.append("the changes to the source of the machine where the run was begun")
    if missing := devices.missing().get(file.target):
        lacking.append(missing)
    reasons: dict[str, str | None] = {}
    if not lacking:
        run = run_here(file)
        reasons = {planned.case.case_id: planned.unsupported for planned in run.plan.cases}
        if run.engine.client is None and file.python is None:
            for name in needed(run.plan):
                venv.made(run.locks.of(name))
        ceiling(file)
    return {"machine": devices.machine(file.target), "unsupported": reasons, "lacking": lacking}


def run_here(file: PlanFile) -> Run:
    return run_of(file, recorded(file)[0], *own_code(file), file.engine, file.python)


def measure(fields: dict[str, Any], shard: Shard, force: bool) -> tuple[bytes, list[str]]:
    """Measures one share. Returns its set as a zip file, and the run's notes. Raises UserError if another run on this
    machine would disturb it; with `force` it runs all the same."""
    file, listener = PlanFile.from_json(fields), Silent()
    run = run_here(file)
    if run.engine.client is not None:
        listener.notes += [
            f"Removed the container that a lost task had left: {case}" for case in sweep(run.engine.client)
        ]
    part = share(run.plan, shard)
    run = replace(run, plan=replace(part, set_id=f"{file.plan.set_id}-{shard.index}of{shard.of}"))
    with noise.alone(force=force) as disturbances, tempfile.TemporaryDirectory() as scratch:
        listener.notes += disturbances
        store = ResultSet.create(Path(scratch) / run.plan.set_id, describe(run, shlex.split(file.command)[1:]))
        store.machine = devices.machine(file.target)
        if reading := ceiling(file):
            store.ceilings = [reading]
        Session(runner(store, run), listener).run()
        return packed(store.folder), listener.notes


def ceiling(file: PlanFile) -> dict[str, Any]:
    """Returns this machine's float32 ceiling, which is measured once for each run. Empty for a run that takes no times,
    and for one that isn't on the CPU."""
    if file.target != "cpu" or file.plan.purpose is not Purpose.TIMED:
        return {}
    return ceiling_of_run(file.plan.set_id, tuple(facts.usable_cores()))


@cache
def ceiling_of_run(set_id: str, cores: tuple[int, ...]) -> dict[str, Any]:
    """Returns the ceiling. It is measured once for each run in which this process takes part: `set_id` is only the key
    under which the result is kept."""
    return ceilings.reading(cores)


def packed(folder: Path) -> bytes:
    """Returns a set's folder as a zip file. Links are left out, because a worker may have linked to files outside the
    set."""
    data = io.BytesIO()
    with zipfile.ZipFile(data, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for path in sorted(folder.rglob("*")):
            if not path.is_symlink() and (path.is_dir() or path.is_file()):
                archive.write(path, path.relative_to(folder))
    return data.getvalue()


@contextmanager
def unpacked(data: bytes, folder: Path) -> Iterator[Path]:
    """Unpacks a share into a draft folder and yields it, so that the caller can check it. Renames it to `folder` unless
    the caller raised an exception."""
    folder.parent.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".coming-") as draft:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:  # zipfile makes no links, and no file outside the folder
            archive.extractall(Path(draft) / "set")
        yield Path(draft) / "set"
        (Path(draft) / "set").rename(folder)
