"""Reads JSON files that a stranger may have written (of a result set, a site, a compiler's answer) with a limit on
their size, and checks their types. A wrong file raises an error, with the file's name and the place in it, before
anything uses its content."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec

from suite.errors import Damaged, UserError
from suite.guard import plain_files

BYTES_MAX = 32 * 2**20  # of plan.json; enough for twenty thousand processes
SMALL_BYTES = 2**20  # of every other JSON file of a set


def read(path: Path, most: int = SMALL_BYTES) -> Any:
    """Returns the parsed JSON. Raises UserError if the file is too large, isn't JSON or is nested too deep."""
    try:
        data = plain_files.read(path, most)
    except OSError as broken:
        raise Damaged(f"{path} can't be read: {broken.strerror}.") from None
    try:
        return msgspec.json.decode(data)
    except (ValueError, RecursionError) as broken:
        raise Damaged(f"{path} can't be read as JSON: {broken}. If it was cut short, fetch or copy it again.") from None


def typed(kind: Any, value: Any, where: str) -> Any:
    """Returns parsed JSON as a value of a type: a dataclass, a typed dictionary, a list, an Enum. Keys that the type
    doesn't have are left out. Raises UserError, naming the place, if the value isn't of the type."""
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError) as broken:
        raise Damaged(f"{where} doesn't have the expected form: {broken}.") from None
    except UserError as broken:  # raised by the type itself
        raise Damaged(f"{where}: {broken}") from None


def of_file(kind: Any, path: Path, most: int = SMALL_BYTES) -> Any:
    """Returns a JSON file's content as a value of a type. Raises UserError as `read` and `typed` do."""
    return typed(kind, read(path, most), str(path))
