"""One command at a time for a set: a run, its resume, a fetch, a collect, a publish."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from suite.errors import UserError
from suite.guard.held import held


@contextmanager
def sole(folder: Path) -> Iterator[int]:
    """Hold a set's folder, there or yet to come; the descriptor of the lock, which lies beside it.

    Raises UserError where another command holds it, whatever was forced, or where no lock can be written.
    """
    place = folder.resolve()
    lock = place.with_name(f".{place.name}.lock")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
    except OSError as broken:
        raise UserError(f"{place.parent} can't be written to: {broken.strerror}.") from broken
    with held(lock, f"{folder} is in use by another command", "wait for its end") as descriptor:
        yield descriptor
