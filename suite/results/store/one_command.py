"""Locks a set, so that only one command uses it at a time: a run, its resume, a fetch, a collect, a publish."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from suite.errors import UserError
from suite.guard.held import held


@contextmanager
def sole(folder: Path) -> Iterator[int]:
    """Holds the lock of a set's folder, which needn't exist yet; yields the descriptor of the lock file beside it.

    Raises UserError if another command holds the lock (--force doesn't change that), or if the lock can't be written.
    """
    path = folder.resolve()
    lock = path.with_name(f".{path.name}.lock")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as broken:
        raise UserError(f"{path.parent} can't be written to: {broken.strerror}.") from broken
    with held(lock, f"{folder} is in use by another command", "wait for its end") as descriptor:
        yield descriptor
