"""Reads a TOML file that has one table for each entry of a list, such as published_peaks.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import TypeVar

import msgspec

from suite.errors import UserError

Entry = TypeVar("Entry", bound=msgspec.Struct)


def entries(path: Path, kind: type[Entry]) -> dict[str, Entry]:
    """Returns {name: entry} of a file; `kind` has the fields of a table and `name`. Raises UserError, which names the
    entry, if an entry isn't valid."""
    listed = {}
    try:
        for name, table in tomllib.loads(path.read_text(encoding="utf-8")).items():
            where = f"{path}, [{name}]"
            listed[name] = msgspec.convert({**table, "name": name}, kind)
    except (OSError, tomllib.TOMLDecodeError) as broken:
        raise UserError(f"{path} can't be read: {broken}.") from broken
    except msgspec.ValidationError as broken:
        raise UserError(f"{where}: {broken}.") from broken
    return listed
