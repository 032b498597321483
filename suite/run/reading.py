"""Reads what processes leave, the programs of XLA and the traces of profilers, with XLA's own bindings: in a run's
environments that have JAX."""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite.case import Outcome
from suite.environments import pythons
from suite.environments.locks import Locks, all_locks, version_key
from suite.errors import UserError
from suite.ir import files
from suite.ir.summary import Program
from suite.launch.attempt import run_reader
from suite.launch.engine import Engine
from suite.protocol import Protocol
from suite.sets import json_file
from suite.stacks.catalog import READER

# Packages with an XLA of their own, by their names in the column versions.
MAKERS = {"jax": "JAX", "torch_xla": "PyTorch/XLA", "tensorflow": "TensorFlow", "tensorflow-cpu": "TensorFlow"}

DEFAULT_READERS = ((READER,), "")  # the default of `Reading`: its `names` and `newer`

Versions = Mapping[str, str | None]  # of a process's packages


@dataclass(frozen=True, slots=True)
class Reading:
    """Reads a process's files in the first of the environments `names` that can; `engines` gives an environment's
    engine.

    One XLA reads for all stacks, so that their figures come from one cost analysis: the newest, because an XLA reads
    what older ones wrote, but not always what newer ones did. The others are tried only where it can't. `newer` has the
    Pythons that this machine lacks for a newer JAX: `3.12 or 3.13`; empty if it lacks none.
    """

    engines: Callable[[str], Engine]
    protocol: Protocol
    cpus: Sequence[int]
    names: tuple[str, ...] = DEFAULT_READERS[0]
    newer: str = DEFAULT_READERS[1]

    def programs(self, captured: Path, versions: Versions) -> dict[str, Any]:
        """Returns the column of the programs that a process has written into a folder. An outcome and a reason instead
        if they can't be read."""
        try:
            text = self.read("suite.ir.analyse", captured, files.SUMMARY, versions)
            programs = json_file.decoded(list[Program], text.encode(), files.SUMMARY)
        except UserError as refused:
            return {"outcome": str(Outcome.ERROR), "reason": f"what it hands to its compiler {refused}"}
        if not programs:
            return {"outcome": str(Outcome.ERROR), "reason": "its compiler left no program in three steps"}
        return {"programs": [dataclasses.asdict(program) for program in programs]}

    def profile(self, traced: Path, versions: Versions) -> dict[str, Any]:
        """Returns the column of the profiler's trace that a process has written into a folder; the trace is too large
        to be kept. An outcome and a reason instead if it can't be read."""
        if not (traced / files.ASKED).exists():
            return {"outcome": str(Outcome.UNSUPPORTED), "reason": "it has no profiler"}
        try:
            profile = json.loads(self.read("suite.ir.attribute", traced, files.ATTRIBUTED, versions))
        except UserError as refused:
            return {"outcome": str(Outcome.ERROR), "reason": f"its profiler's trace {refused}"}
        shutil.rmtree(traced)
        return {"profile": profile}

    def read(self, module: str, folder: Path, answer: str, versions: Versions) -> str:
        """Returns the text of the file `answer`, which the program `module` writes about the folder of a process with
        these versions. Raises UserError as `run_reader` does: what the first reader says."""
        refusals = []
        for name in self.names:
            try:
                engine, hint = self.engine(name), self.hint(versions)
                return run_reader(
                    module, folder, answer, engine=engine, protocol=self.protocol, cpus=self.cpus, hint=hint
                )
            except UserError as refused:
                refusals.append(refused)
        raise refusals[0]

    def hint(self, versions: Versions) -> str:
        """Returns which XLA made what can't be read, and which Python would read it; empty if this machine lacks no
        Python for a newer one."""
        maker = next((name for name in MAKERS if versions.get(name)), None)
        if not self.newer or maker is None:
            return ""
        version = ".".join((versions[maker] or "").split(".")[:2])
        return f"made by the XLA of {MAKERS[maker]} {version}; reading it needs Python {self.newer} here"

    def engine(self, name: str) -> Engine:
        """Returns the engine of an environment. Raises UserError, in the words of `run_reader`, if it can't be made."""
        try:
            return self.engines(name)
        except UserError as lacking:
            raise UserError(f"couldn't be read: {str(lacking).splitlines()[0]}") from None


def readers(names: Iterable[str], locks: Locks) -> tuple[tuple[str, ...], str]:
    """Returns `names` and `newer` of a `Reading`: those of a run's environments that have JAX, the newest JAX first; of
    several with the same JAX, only one."""
    by_version: dict[str, str] = {}
    for name in (READER, *names):
        if version := locks.of(name).pins.get("jax"):
            by_version.setdefault(version, name)
    versions = sorted(by_version, key=version_key, reverse=True)
    if not versions:
        return DEFAULT_READERS
    return tuple(map(by_version.__getitem__, versions)), newer_pythons(locks.target, versions[0])


def newer_pythons(target: str, than: str) -> str:
    """Returns the Pythons of the reader's locks with a newer JAX than this one: `3.12 or 3.13`; empty if this machine
    has one of them, or if there is no newer lock."""
    locks = reversed(all_locks(READER, target))
    newer = [lock.python for lock in locks if version_key(lock.pins.get("jax", "")) > version_key(than)]
    return "" if any(map(pythons.find, newer)) else " or ".join(newer)
