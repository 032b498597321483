"""Reads rows from Parquet files. They may come from anywhere, so their size is checked before they are unpacked."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from suite.errors import UserError
from suite.results.store.parquet import pages
from suite.results.store.parquet.row_check import check_columns, check_row
from suite.results.store.rows import Row
from suite.results.store.schema import NAMES, SCHEMA, SCHEMA_VERSION

# Columns for code that doesn't need samples, which are nearly all of a set's bytes.
WITHOUT_SAMPLES = frozenset(
    field.name for field in SCHEMA if not pa.types.is_list(field.type) or field.type.value_type == pa.string()
)


def read_parquet(path: Path) -> list[Row]:
    """Returns the rows of a merged file. Raises UserError if it can't be read, or lacks columns."""
    with understood(path):
        stored = pq.read_schema(path)
    missing = [name for name in NAMES if name not in stored.names]
    if missing:
        raise UserError(f"{path} lacks the columns {', '.join(missing)}: it isn't a Stack Wars result.")
    with understood(path):
        return read_rows(path)


@contextmanager
def understood(path: Path) -> Iterator[None]:
    """Turns errors from reading a Parquet file, which may be damaged or too large, into UserError."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as broken:
        raise UserError(f"{path} can't be read as Parquet: {str(broken).splitlines()[0][:300]}.") from broken


def read_rows(path: Path, wanted: Collection[str] = NAMES, having: Any = None) -> list[Row]:
    """Returns the rows of a file. Columns that aren't `wanted` are None in the rows; the columns of the case must be
    among the wanted ones. `having` is Arrow's filter of rows.

    Raises ArrowInvalid for a file with more than any set has, before it is unpacked, and for a file that this suite, in
    this schema version, didn't write.
    """
    # Arrow opens the file itself. It releases a Python file from its own threads at any time, and a thread that needs
    # the interpreter while the process is ending (after a Ctrl-C, say) aborts the process.
    columns = [column for column in NAMES if column in wanted]
    with pa.OSFile(str(path)) as file:
        table = table_in(file, columns, str(path))
    stored = {*table.column_names}
    table = table.filter(having) if having is not None else table
    # Every row has every wanted column: one that the file lacks is null.
    schema = pa.schema([SCHEMA.field(column) for column in columns])
    table = pa.table(
        [
            table[field.name].cast(field.type) if field.name in stored else pa.nulls(len(table), field.type)
            for field in schema
        ],
        schema=schema,
    )
    check_columns(table, str(path))
    blank = dict.fromkeys(NAMES) if len(columns) < len(NAMES) else {}
    try:
        rows = [Row(blank | fields) for fields in table.to_pylist()]
        for row in rows if not blank else ():
            check_row(row)
    except (ValueError, TypeError, KeyError) as broken:  # readable Parquet, but not rows that this suite wrote
        raise pa.ArrowInvalid(f"{path} holds no rows of a result set: {broken}") from broken
    return rows


def check_parquet(path: Path) -> None:
    """Raises UserError for a file of rows that can't be read, or that has more than any set has."""
    with understood(path), pa.OSFile(str(path)) as file:
        table_in(file, NAMES, path.name)


def table_in(file: Any, wanted: Collection[str], name: str) -> pa.Table:
    """Returns the wanted columns that an open file has. Equal texts are stored once (dictionary encoded), because one
    text may occur a billion times. Raises ArrowInvalid as `read_rows` does."""
    chunks = pages.columns(file, name)
    texts = {".".join(chunk.path) for chunk in chunks if chunk.type == pages.BYTE_ARRAY}
    try:
        stored = pq.ParquetFile(file, read_dictionary=sorted(texts))
    except KeyError as unknown:
        raise pa.ArrowInvalid(f"{name} has a column that its schema lacks: {unknown}") from None
    check_version(stored.schema_arrow)
    read = [column for column in wanted if column in stored.schema_arrow.names]
    pages.check(file, [chunk for chunk in chunks if chunk.path[0] in read], name)
    table = stored.read(columns=read)
    if sum(text_bytes(chunk) for column in table.columns for chunk in column.chunks) > pages.BYTES_MAX:
        raise pages.too_large(name)
    return table


def text_bytes(values: pa.Array) -> int:
    """Returns the bytes of the texts in an array of any type, each counted as often as it occurs."""
    if pa.types.is_dictionary(values.type):
        return pc.sum(pc.take(pc.binary_length(values.dictionary), values.indices)).as_py() or 0
    if pa.types.is_list(values.type):
        return text_bytes(values.flatten())
    return sum(map(text_bytes, values.flatten())) if pa.types.is_struct(values.type) else 0


def check_version(schema: Any) -> None:
    """Raises ArrowInvalid for a file of another schema version; a file without a version is read as one of ours."""
    ours = b"%d" % SCHEMA_VERSION
    version = (schema.metadata or {}).get(b"stack_wars_schema_version", ours)
    if version != ours:
        words = version[:20].decode(errors="replace")
        raise pa.ArrowInvalid(f"it has schema version {words}; this program reads {SCHEMA_VERSION}")
