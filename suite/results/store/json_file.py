"""JSON files of a set, read against types and with a bound: a set may come from anywhere, and what isn't what it should
be is said, by file and place, before anything is made of it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from suite.errors import Damaged, UserError
from suite.guard import plain_files

BYTES_MAX = 32 * 2**20  # a plan of twenty thousand processes
SMALL_BYTES = 2**20  # whatever else a set says of itself


def read(path: Path, most: int = SMALL_BYTES) -> Any:
    """What a JSON file says, of any type. Raises UserError for one that is too large, no text, no JSON or too deep."""
    try:
        data = plain_files.read(path, most)
    except OSError as broken:
        raise Damaged(f"{path} can't be read: {broken.strerror}.") from None
    try:
        return msgspec.json.decode(data)
    except (ValueError, RecursionError) as broken:
        raise Damaged(f"{path} can't be read as JSON: {broken}. If it was cut short, fetch or copy it again.") from None


def typed(kind: Any, value: Any, where: str) -> Any:
    """Parsed JSON as a value of a type: a dataclass, a typed dictionary, a list, an Enum. Raises UserError, naming the
    place, for what isn't one. What a type has no name for is left out: nothing here would know what to make of it."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as broken:
        raise Damaged(f"{where} isn't what it should be: {broken}.") from None
    except UserError as broken:  # a rule of the type's own
        raise Damaged(f"{where}: {broken}") from None


def of_file(kind: Any, path: Path, most: int = SMALL_BYTES) -> Any:
    """What a JSON file says, as a value of a type. Raises UserError."""
    return typed(kind, read(path, most), str(path))
