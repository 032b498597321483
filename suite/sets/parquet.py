"""Rows in Parquet files. A file that is read may come from anywhere: unless the caller vouches for it, a process of its
own reads it, under limits, and the values are checked before anything uses them.

Functions import Arrow themselves: a command that reads and writes no rows doesn't wait for it.
"""

from __future__ import annotations

import datetime
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
from typing import TYPE_CHECKING, Any

from suite.errors import Damaged, UserError
from suite.sets.files import commit
from suite.sets.read_child import ERRNO, table_of
from suite.sets.row_check import check_columns, check_row
from suite.sets.rows import Row
from suite.sets.schema import NAMES

if TYPE_CHECKING:
    import pyarrow as pa

FILE_BYTES_MAX = 2**28
ROWS_MAX = 100_000  # each takes about 10 KB in memory
ANSWER_BYTES_MAX = 2**28  # of the columns that are read, unpacked; 10,000 attempts of 200 samples take 100 MB
MEMORY_BYTES_MAX = 2**31  # of the reading process, its libraries included
SECONDS_MAX = 60.0
READERS = BoundedSemaphore(2)  # reading processes at once
ENVIRONMENT = {
    # Arrow's other allocators reserve more address space than they use, and so do threads.
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "MALLOC_ARENA_MAX": "1",
    "OPENBLAS_NUM_THREADS": "1",
}


def write_parquet(path: Path, rows: list[Row]) -> None:
    """Writes rows, as a whole file or not at all."""
    import pyarrow.parquet as pq

    from suite.sets.arrow import to_table

    draft = path.with_suffix(".draft")
    # Samples hardly repeat: with a dictionary, which is Parquet's default, a file is a quarter larger.
    repeating = [name for name in NAMES if not name.endswith("_seconds")]
    pq.write_table(to_table(rows), draft, compression="zstd", compression_level=9, use_dictionary=repeating)
    commit(draft, path)


def read_rows(path: Path, wanted: Collection[str] = NAMES, *, trusted: bool = False) -> list[Row]:
    """Returns the rows of a file, or of all files in a folder. Columns that aren't `wanted` are None in the rows; those
    of the case must be wanted. `trusted` says that this suite wrote the rows on this machine, so that they are read in
    this process. Raises Damaged for a file that can't be read, lacks columns, has more than any set has, is of another
    schema version, or has values that no process can have written."""
    columns = [name for name in NAMES if name in wanted]
    with understood(path):
        table = table_of(path, columns, ROWS_MAX) if trusted else table_by_child(path, columns)
        check_columns(table)
        unread = dict.fromkeys(NAMES)
        rows = [Row(unread | fields) for fields in table.to_pylist()]
        for row in rows:
            row["started_at"] = row["started_at"] and row["started_at"].replace(tzinfo=datetime.UTC)
        for row in rows if len(columns) == len(NAMES) else ():
            check_row(row)
    return rows


@contextmanager
def understood(path: Path) -> Iterator[None]:
    """Turns errors from reading a Parquet file into UserError, and those about its content into Damaged."""
    import pyarrow as pa

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
    import pyarrow as pa

    if not (path.is_file() or path.is_dir()):
        raise pa.ArrowInvalid("it isn't a file")
    if path.stat().st_size > FILE_BYTES_MAX:
        raise MemoryError
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
