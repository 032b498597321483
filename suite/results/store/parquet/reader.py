"""Reads the rows of Parquet files."""

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

# Of rows that are counted, not compared: a set's samples are nearly all of its bytes.
WITHOUT_SAMPLES = frozenset(
    field.name for field in SCHEMA if not pa.types.is_list(field.type) or field.type.value_type == pa.string()
)


def read_parquet(path: Path) -> list[Row]:
    """Rows of a merged file. Raises UserError naming the columns that a foreign file lacks."""
    with understood(path):
        stored = pq.read_schema(path)
    missing = [name for name in NAMES if name not in stored.names]
    if missing:
        raise UserError(f"{path} lacks the columns {', '.join(missing)}: not a Stack Wars result.")
    with understood(path):
        return read_rows(path)


@contextmanager
def understood(path: Path) -> Iterator[None]:
    """A file that can't be read, or mustn't, as a UserError."""
    try:
        yield
    except (pa.ArrowException, OSError, UnicodeDecodeError) as broken:
        raise UserError(f"{path} can't be read as Parquet: {str(broken).splitlines()[0][:300]}.") from broken


def read_rows(path: Path, wanted: Collection[str] = NAMES, having: Any = None) -> list[Row]:
    """Rows of a result file, with the columns that are `wanted` (those of the case must be) and null in the others;
    `having` is a condition on columns.

    Raises ArrowInvalid for more than any set has, before it is unpacked, and for what no program of ours wrote.
    """
    # Arrow's own file: its threads let go of a Python one whenever they like, and a process that is just ending
    # (after a Ctrl-C, say) is aborted by a thread that asks for the interpreter then.
    with pa.OSFile(str(path)) as file:
        return rows_in(file, wanted, str(path), having)


def rows_in(file: Any, wanted: Collection[str], name: str, having: Any) -> list[Row]:
    """Of an open file."""
    columns = [each for each in NAMES if each in wanted]
    table = table_in(file, columns, name)
    there = {*table.column_names}
    table = table.filter(having) if having is not None else table
    # A column that a file lacks is null, never left out: with a wrong number of them rows wouldn't be told apart.
    schema = pa.schema([SCHEMA.field(each) for each in columns])
    table = pa.table(
        [
            table[field.name].cast(field.type) if field.name in there else pa.nulls(len(table), field.type)
            for field in schema
        ],
        schema=schema,
    )
    check_columns(table, name)
    blank = dict.fromkeys(NAMES) if len(columns) < len(NAMES) else {}
    try:
        rows = [Row(blank | fields) for fields in table.to_pylist()]
        for row in rows if not blank else ():
            check_row(row)
    except (ValueError, TypeError, KeyError) as broken:  # readable bytes of what no program wrote
        raise pa.ArrowInvalid(f"{name} holds no rows of a result set: {broken}") from broken
    return rows


def check_parquet(path: Path) -> None:
    """Raises UserError for a file of rows that can't be read, or mustn't."""
    with understood(path), pa.OSFile(str(path)) as file:
        table_in(file, NAMES, path.name)


def table_in(file: Any, wanted: Collection[str], name: str) -> pa.Table:
    """The columns of an open file that are wanted and there; every text a reference to each
    different one, since the same may stand there a billion times. Raises ArrowInvalid."""
    found = pages.columns(file, name)
    texts = {".".join(column.path) for column in found if column.type == pages.BYTE_ARRAY}
    try:
        stored = pq.ParquetFile(file, read_dictionary=sorted(texts))
    except KeyError as unknown:
        raise pa.ArrowInvalid(f"{name} has a column that its schema lacks: {unknown}") from None
    check_version(stored.schema_arrow)
    read = [column for column in wanted if column in stored.schema_arrow.names]
    pages.check(file, [column for column in found if column.path[0] in read], name)
    table = stored.read(columns=read)
    if sum(text_bytes(chunk) for column in table.columns for chunk in column.chunks) > pages.BYTES_MAX:
        raise pages.too_large(name)
    return table


def text_bytes(values: pa.Array) -> int:
    """Of the texts in an array of any kind, each as often as it stands there."""
    if pa.types.is_dictionary(values.type):
        return pc.sum(pc.take(pc.binary_length(values.dictionary), values.indices)).as_py() or 0
    if pa.types.is_list(values.type):
        return text_bytes(values.flatten())
    return sum(map(text_bytes, values.flatten())) if pa.types.is_struct(values.type) else 0


def check_version(schema: Any) -> None:
    """Raises ArrowInvalid for a file of another schema version; one that doesn't say its version is read as ours."""
    ours = b"%d" % SCHEMA_VERSION
    version = (schema.metadata or {}).get(b"stack_wars_schema_version", ours)
    if version != ours:
        raise pa.ArrowInvalid(
            f"it has schema version {version[:20].decode(errors='replace')}; this program reads {SCHEMA_VERSION}"
        )
