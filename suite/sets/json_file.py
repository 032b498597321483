"""JSON files that a stranger may have written (of a set, of a compiler's answer): their size is limited, and their
content checked against a type before anything uses it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

from suite.errors import Damaged, UserError
from suite.guard import plain_files

BYTES_MAX = 32 * 2**20  # of plan.json; enough for twenty thousand processes
SMALL_BYTES = 2**20  # of every other JSON file of a set


def read(path: Path, kind: Any = Any, most: int = SMALL_BYTES) -> Any:
    """Returns a file's content as a value of a type: a Struct, a dataclass, a typed dictionary. Keys that the type
    doesn't have are left out. Raises Damaged, with the place, for a file that is too large, no JSON or of another
    form."""
    return decoded(kind, content(path, most), str(path))


def content(path: Path, most: int) -> bytes:
    """Returns the bytes of a plain file. Raises Damaged if there is none, or more than `most` bytes."""
    try:
        return plain_files.read(path, most)
    except OSError as broken:
        raise Damaged(f"{path} can't be read: {broken.strerror}.") from None


def decoded(kind: Any, data: bytes, where: str) -> Any:
    """Returns JSON as a value of a type. Raises Damaged as `read` does."""
    with understood(where):
        return msgspec.json.decode(data, type=kind)


def typed(kind: Any, value: Any, where: str) -> Any:
    with understood(where):
        return msgspec.convert(value, kind)


@contextmanager
def understood(where: str) -> Iterator[None]:
    """Turns what is wrong with JSON into Damaged."""
    try:
        yield
    except msgspec.ValidationError as broken:
        raise Damaged(f"{where} doesn't have the expected form: {broken}.") from None
    except (ValueError, RecursionError) as broken:
        remedy = "If it was cut short, fetch or copy it again."
        raise Damaged(f"{where} can't be read as JSON: {broken}. {remedy}") from None
    except UserError as broken:  # raised by the type itself
        raise Damaged(f"{where}: {broken}") from None
