"""Rows in Parquet files. A file that is read may come from anywhere: unless the caller vouches for it, a process of its
own reads it, under limits, and the values are checked before anything uses them."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from math import ceil
from pathlib import Path
from threading import BoundedSemaphore
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from suite.errors import Damaged, UserError
from suite.sets.files import commit
from suite.sets.read_child import ERRNO, table_of
from suite.sets.row_check import check_columns, check_row
from suite.sets.rows import Row
from suite.sets.schema import NAMES, SCHEMA, to_table

FILE_BYTES_MAX = 2**28
ROWS_MAX = 100_000  # each takes about 10 KB in memory
ANSWER_BYTES_MAX = 2**28  # of the columns that are read, unpacked; 10,000 attempts of 200 samples take 100 MB
MEMORY_BYTES_MAX = 2**31  # of the reading process, its libraries included
SECONDS_MAX = 60.0
READERS = BoundedSemaphore(2)  # reading processes at once
LAST_READ: dict[tuple[Any, ...], pa.Table] = {}  # the last table that a reading process answered, by its file
ENVIRONMENT = {
    # Arrow's other allocators reserve more address space than they use, and so do threads.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def write_parquet(path: Path, rows: list[Row]) -> None:
    """Writes rows, as a whole file or not at all."""
    draft = path.with_suffix(".draft")
    pq.write_table(to_table(rows), draft)
    commit(draft, path)


def read_parquet(path: Path, *, trusted: bool = False) -> list[Row]:
    """Returns the rows of a merged file. Raises UserError if it can't be read, or lacks columns."""
    table = read_table(path, trusted=trusted)
    if missing := [name for name in NAMES if name not in table.column_names]:
        raise UserError(f"{path} lacks the columns {', '.join(missing)}: it isn't a Stack Wars result.")
    return rows_in(table, path)


def read_rows(path: Path, wanted: Collection[str] = NAMES, *, trusted: bool = False) -> list[Row]:
    """Returns the rows of a file. Columns that aren't `wanted` are None in the rows; the columns of the case must be
    among the wanted ones. Raises UserError as `read_table` and `rows_in` do."""
    return rows_in(read_table(path, wanted, trusted=trusted), path, wanted)


def read_table(path: Path, wanted: Collection[str] = NAMES, *, trusted: bool = False) -> pa.Table:
    """Returns the wanted columns that a file has, or all files in a folder. `trusted` says that this suite wrote them
    on this machine, so that they are read in this process. Raises Damaged for a file that can't be read, has more than
    any set has, or is of another schema version."""
    columns = [column for column in NAMES if column in wanted]
    with understood(path):
        return table_of(path, columns, ROWS_MAX) if trusted else table_by_child(path, columns)


@contextmanager
def understood(path: Path) -> Iterator[None]:
    """Turns errors from reading a Parquet file into UserError, and those about its content into Damaged."""
    try:
        yield
    except (MemoryError, pa.ArrowException, ValueError, TypeError, KeyError, OSError) as broken:
        number = getattr(broken, "errno", None)
        if isinstance(broken, MemoryError) or number == errno.EFBIG:
            most = f"{ROWS_MAX:,} rows or {ANSWER_BYTES_MAX / 2**20:.0f} MiB"
            raise Damaged(f"{path} can't be read: it would unpack to more than any set has: {most}.") from None
        if number is not None:  # the disk or the permissions are at fault
            raise UserError(f"{path} can't be read: {os.strerror(number)}.") from broken
        words = str(broken).partition("\n")[0][:300].rstrip(".") or type(broken).__name__
        raise Damaged(f"{path} can't be read as Parquet: {words}.") from broken


def table_by_child(path: Path, columns: Collection[str]) -> pa.Table:
    """Returns what `suite.sets.read_child` reads. Raises MemoryError or OSError for a file that has more than any set
    has, and ArrowInvalid for one that can't be read."""
    if not (path.is_file() or path.is_dir()):
        raise pa.ArrowInvalid("it isn't a file")
    stat = path.stat()
    if stat.st_size > FILE_BYTES_MAX:
        raise MemoryError
    # A stranger's set is checked, then read; between the two a fetch renames its folder.
    found = (stat.st_dev, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, *columns)
    table = None if path.is_dir() else LAST_READ.get(found)
    if table is None:
        table = read_by_child(path, columns)
        LAST_READ.clear()
        LAST_READ[found] = table
    return table


def read_by_child(path: Path, columns: Collection[str]) -> pa.Table:
    """Returns the columns of a file or folder. Raises as `table_by_child` does."""
    request: dict[str, Any] = {"path": str(path.absolute()), "columns": list(columns), "rows": ROWS_MAX}
    request |= {"memory_bytes": MEMORY_BYTES_MAX, "answer_bytes": ANSWER_BYTES_MAX, "seconds": ceil(SECONDS_MAX)}
    environment = os.environ | ENVIRONMENT | {"PYTHONPATH": os.pathsep.join(filter(None, sys.path))}
    with READERS, tempfile.NamedTemporaryFile() as answer:
        request["answer"] = answer.name
        command = [sys.executable, "-P", "-m", "suite.sets.read_child", json.dumps(request)]
        try:
            ended = subprocess.run(command, capture_output=True, timeout=SECONDS_MAX, env=environment, check=False)
        except subprocess.TimeoutExpired:
            raise pa.ArrowInvalid(f"its reader took more than {SECONDS_MAX:g} s") from None
        if ended.returncode > ERRNO:
            raise OSError(ended.returncode - ERRNO, "")
        if ended.returncode < 0:
            raise pa.ArrowInvalid(f"its reader died of {signal.Signals(-ended.returncode).name}")
        if ended.returncode:
            raise pa.ArrowInvalid(ended.stderr.decode(errors="replace").strip().rpartition("\n")[2])  # the last line
        with pa.memory_map(answer.name) as mapped:
            return pa.ipc.open_stream(mapped).read_all()


def rows_in(table: pa.Table, path: Path, wanted: Collection[str] = NAMES) -> list[Row]:
    """Returns the rows of a table; a wanted column that the table lacks is null. Raises Damaged for values that no
    process can have written."""
    # Every row has every wanted column: one that the file lacks is null.
    fields = [SCHEMA.field(name) for name in NAMES if name in wanted]
    blank = dict.fromkeys(NAMES) if len(fields) < len(NAMES) else {}
    with understood(path):
        present = {*table.column_names}
        columns = [table[f.name] if f.name in present else pa.nulls(len(table), f.type) for f in fields]
        table = pa.table(columns, schema=pa.schema(fields))
        check_columns(table)
        rows = [Row(blank | fields) for fields in table.to_pylist()]
        for row in rows if not blank else ():
            check_row(row)
    return rows
