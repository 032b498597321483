"""The columns of results.parquet as Arrow has them, and how rows become tables.

Readers always pass `SCHEMA`, because Parquet readers silently drop a column that the first of several files lacks.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa

from suite.sets.schema import COLUMNS, NAMES, SCHEMA_VERSION

TYPES = {
    "int64": pa.int64(),
    "float64": pa.float64(),
    "string": pa.string(),
    "json": pa.string(),  # because the keys differ from row to row
    "timestamp": pa.timestamp("us"),  # without a zone, which DuckDB needs another package for
    "list<string>": pa.list_(pa.string()),
    "list<float64>": pa.list_(pa.float64()),
    "list<int64>": pa.list_(pa.int64()),
}
SCHEMA: Any = pa.schema(
    [pa.field(name, TYPES[kind.type]) for name, kind in COLUMNS.items()],
    metadata={"stack_wars_schema_version": str(SCHEMA_VERSION)},
)


def to_table(rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Returns a table in the canonical schema; a column that a row lacks is null.

    Raises ValueError for a name that isn't a column (Arrow would drop it silently), and Arrow's own
    ArrowInvalid or ArrowTypeError, or OverflowError, for a value of another type.
    """
    listed = list(rows)
    if unknown := sorted({name for row in listed for name in row} - set(NAMES)):
        raise ValueError(f"no such column: {', '.join(unknown)}")
    for name in (name for name, kind in COLUMNS.items() if kind.type == "int64"):
        for value in (row.get(name) for row in listed):
            # Arrow would silently cut 1.5 down to 1.
            if isinstance(value, float) and not value.is_integer():
                raise pa.ArrowInvalid(f"column {name} takes whole numbers, not {value}")
    return pa.Table.from_pylist(listed, schema=SCHEMA)
