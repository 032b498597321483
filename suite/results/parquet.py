"""Rows in Parquet files, of every schema version."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from suite.errors import UserError
from suite.results import migrations
from suite.results.rows import Row
from suite.results.schema import ADDED, NAMES, SCHEMA, SCHEMA_VERSION

# Of rows that are counted, not compared: a set's samples are nearly all of its bytes.
WITHOUT_SAMPLES = frozenset(field.name for field in SCHEMA
                            if not pa.types.is_list(field.type) or field.type.value_type == pa.string())  # fmt: skip


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


def read_rows(path: Path, wanted: Collection[str] = NAMES, having: Any = None) -> list[Row]:
    """`rows_in` of a file here."""
    # Arrow's own file: its threads let go of a Python one whenever they like, and a process that is just ending
    # (after a Ctrl-C, say) is aborted by a thread that asks for the interpreter then.
    with pa.OSFile(str(path)) as file:
        return rows_in(file, wanted, path.name, having)


def rows_in(file: Any, wanted: Collection[str] = NAMES, name: str = "it", having: Any = None) -> list[Row]:
    """Rows of an open file that one of our versions wrote, as they are called today, with the columns that are wanted
    (those of the case must be) and null in the others; `having` is a condition on columns that no version called
    otherwise."""
    stored = pq.ParquetFile(file)
    older = migrations.columns(version_of(stored.schema_arrow))
    names_then = {today: then for then, today in older.items()}
    there = {older.get(each, each) for each in stored.schema_arrow.names}
    columns = [each for each in NAMES if each in wanted]
    table = stored.read(columns=[names_then.get(each, each) for each in columns if each in there])
    table = table.rename_columns([older.get(each, each) for each in table.column_names])
    table = table.filter(having) if having is not None else table
    # A column that a file lacks is null, never left out: with a wrong number of them rows wouldn't be told apart.
    schema = pa.schema([SCHEMA.field(each) for each in columns])
    table = pa.table([table[each] if each in there else pa.nulls(len(table), SCHEMA.field(each).type)
                      for each in columns], schema=schema)  # fmt: skip
    blank = dict.fromkeys(NAMES) if len(columns) < len(NAMES) else {}
    try:
        return [Row(blank | migrations.row(fields)) for fields in table.to_pylist()]
    except (ValueError, TypeError, KeyError) as broken:  # readable bytes of what no program wrote
        raise pa.ArrowInvalid(f"{name} holds no rows of a result set: {broken}") from broken


def version_of(schema: Any) -> int:
    """The schema version that a file says it has; today's if it says nothing."""
    said = (schema.metadata or {}).get(b"stack_wars_schema_version")
    return int(said) if said else SCHEMA_VERSION
