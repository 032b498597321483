"""Rows in Parquet files, of every schema version."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from suite.errors import UserError
from suite.results import migrations
from suite.results.rows import Row
from suite.results.schema import ADDED, NAMES, SCHEMA, SCHEMA_VERSION


def read_parquet(path: Path) -> list[Row]:
    """Rows of a merged file. Raises UserError naming the columns that a foreign file lacks."""
    try:
        stored = pq.read_schema(path)
    except (pa.ArrowInvalid, OSError) as broken:
        raise UserError(f"{path} can't be read as Parquet: {broken}.") from broken
    version = version_of(stored)
    names = {migrations.columns(version).get(name, name) for name in stored.names}
    later = frozenset().union(*(columns for since, columns in ADDED.items() if since > version))
    missing = [name for name in NAMES if name not in names and name not in later]
    if missing:
        raise UserError(f"{path} lacks the columns {', '.join(missing)}: not a Stack Wars result.")
    return read_rows(path)


def read_rows(path: Path) -> list[Row]:
    """Rows of a file that one of our versions wrote, as they are called today; a column it hasn't got is null."""
    older = migrations.columns(version_of(pq.read_schema(path)))
    names_then = {today: then for then, today in older.items()}
    # Always with the whole schema: Parquet readers silently drop a column that a file lacks.
    schema = pa.schema([pa.field(names_then.get(field.name, field.name), field.type) for field in SCHEMA])
    table = pq.read_table(path, schema=schema).rename_columns(list(NAMES))
    try:
        return [Row(migrations.row(fields)) for fields in table.to_pylist()]
    except (ValueError, TypeError, KeyError) as broken:  # readable bytes of what no program wrote
        raise pa.ArrowInvalid(f"{path.name} holds no rows of a result set: {broken}") from broken


def version_of(schema: Any) -> int:
    """The schema version that a file says it has; today's if it says nothing."""
    said = (schema.metadata or {}).get(b"stack_wars_schema_version")
    return int(said) if said else SCHEMA_VERSION
