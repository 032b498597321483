"""`python -m suite.sets.read_child REQUEST` reads Parquet files that a stranger may have forged, and writes their rows
to the file that the request names, as an Arrow stream.

Arrow's reader believes what a file says: a small file may unpack to terabytes, and a damaged one may end the process.
So it reads in a process of its own, whose memory, time and answer the kernel limits; `suite.sets.parquet` starts it.
"""

from __future__ import annotations

import errno
import json
import resource
import sys
from pathlib import Path
from typing import Any

from suite.order import natural

ERRNO = 100  # exit codes above it are the system's error numbers; EFBIG says that a file unpacks to too much


def main() -> None:
    """Reads what the request names, under its limits. Exits with a sentence if it can't be read."""
    request = json.loads(sys.argv[1])
    limits = {
        resource.RLIMIT_AS: request["memory_bytes"],
        resource.RLIMIT_FSIZE: request["answer_bytes"],
        resource.RLIMIT_CPU: request["seconds"],
        resource.RLIMIT_CORE: 0,
    }
    for limit, most in limits.items():
        hard = resource.getrlimit(limit)[1]  # the user's own limit may be less
        least = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(limit, (least, least))
    sys.modules["numpy"] = None  # type: ignore[assignment]  # Arrow needs none of it; its import takes 0.1 s
    import pyarrow as pa

    try:
        table = table_of(Path(request["path"]), request["columns"], request["rows"])
        # Not standard output: what Python can't flush there at its end becomes an exit code of its own, 120.
        with pa.OSFile(request["answer"], "wb") as answer, pa.ipc.new_stream(answer, table.schema) as stream:
            stream.write_table(table)
    except MemoryError:
        sys.exit(ERRNO + errno.EFBIG)
    except (pa.ArrowException, OSError) as broken:
        number = getattr(broken, "errno", None)
        sys.exit(ERRNO + number if number else str(broken).partition("\n")[0])


def table_of(path: Path, wanted: list[str], rows_max: int) -> Any:
    """Returns the wanted columns of a file, or of all files in a folder. Raises MemoryError for too many rows."""
    import pyarrow as pa  # under the limits

    files = sorted(path.glob("*.parquet"), key=lambda file: natural(file.name)) if path.is_dir() else [path]
    tables = [table_in(file, wanted, rows_max) for file in files]
    if sum(map(len, tables)) > rows_max:
        raise MemoryError
    return pa.concat_tables(tables) if tables else pa.table({})


def table_in(path: Path, wanted: list[str], rows_max: int) -> Any:
    """Returns the wanted columns of one file, in the schema's types: another type may be small in the file and large
    once converted. Raises ArrowInvalid for a file that can't be read, lacks a column or is of another schema
    version."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from suite.sets.arrow import SCHEMA
    from suite.sets.schema import SCHEMA_VERSION

    # Arrow opens the file itself. It releases a Python file from its own threads at any time, and a thread that needs
    # the interpreter while the process is ending (after a Ctrl-C, say) aborts the process.
    with pa.OSFile(str(path)) as file:
        stored = pq.ParquetFile(file)
        schema = stored.schema_arrow  # made anew by each call
        ours = b"%d" % SCHEMA_VERSION
        version = (schema.metadata or {}).get(b"stack_wars_schema_version", ours)
        if version != ours:
            words = version[:20].decode(errors="replace")
            raise pa.ArrowInvalid(f"it has schema version {words}; this program reads {SCHEMA_VERSION}")
        if stored.metadata.num_rows > rows_max:
            raise MemoryError
        if missing := sorted({*wanted} - {*schema.names}, key=wanted.index):
            raise pa.ArrowInvalid(f"it lacks the columns {', '.join(missing)}")
        table = stored.read(columns=wanted, use_threads=False).select(wanted)
    typed = pa.schema([SCHEMA.field(name) for name in wanted])
    return table if table.schema.equals(typed) else table.cast(typed)


if __name__ == "__main__":
    main()
