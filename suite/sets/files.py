"""Files of a set: written whole or not at all, unpacked with a bound, and used by one command at a time."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from suite.errors import UserError
from suite.guard.held import held

FREE_BYTES_MIN = 200 * 2**20  # raw samples, logs and the report of a large run take this much
GROWTH_MAX = 200  # a file's bytes after unpacking over those before; programs reach 20
GROWTH_FREE_BYTES = 64 * 2**20  # a file that unpacks to less may grow by any factor: every reader has room for it
PIECE_BYTES = 2**20


def check_writable(folder: Path, option: str = "--results") -> None:
    """Makes the folder and writes a file there as a test. If that fails, or the disk is nearly full, raises UserError,
    which names the `option` for another folder."""
    if str(folder) == "-":
        raise UserError(f"{option}=- is standard output, and this command writes a folder: {option}=DIR.")
    probe = folder / f".probe-{os.getpid()}"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with probe.open("wb") as file:
            file.write(b"\0" * 4096)
            file.flush()
            os.fsync(file.fileno())
    except FileExistsError as broken:
        what = f"a link to {folder.readlink()}, which isn't there" if folder.is_symlink() else "no folder"
        raise UserError(f"{folder} is {what}. Choose a folder with {option}=DIR.") from broken
    except OSError as broken:
        raise UserError(
            f"{folder} can't be written to: {broken.strerror}. Choose another folder with {option}=DIR."
        ) from broken
    finally:
        with suppress(OSError):
            probe.unlink()
    free = shutil.disk_usage(folder).free
    if free < FREE_BYTES_MIN:
        raise UserError(
            f"{folder} has {free / 2**20:.0f} MiB free; a run needs {FREE_BYTES_MIN / 2**20:.0f} MiB. "
            f"Make room, or choose another folder with {option}=DIR."
        )


def as_json(value: Any) -> str:
    return json.dumps(value, indent=1, sort_keys=True) + "\n"


def write_json(path: Path, value: Any) -> None:
    """Writes a value as JSON, as a whole file or not at all."""
    draft = path.with_suffix(".draft")
    draft.write_text(as_json(value), encoding="utf-8")
    commit(draft, path)


def commit(draft: Path, path: Path) -> None:
    """Renames a draft once its bytes are on disk: a reader sees the whole file or none."""
    with draft.open("rb") as file:
        os.fsync(file.fileno())
    draft.replace(path)


def gunzipped(path: Path) -> Iterator[bytes]:
    """Yields a gzip file's content in pieces. Raises UserError if it isn't a gzip file, and as soon as the content is
    far larger than the file: such a file was made to fill a disk or memory."""
    most = max(GROWTH_FREE_BYTES, GROWTH_MAX * path.stat().st_size)
    nbytes = 0
    try:
        with gzip.open(path) as file:
            while piece := file.read(PIECE_BYTES):
                nbytes += len(piece)
                if nbytes > most:
                    raise UserError(
                        f"{path.name} unpacks from {path.stat().st_size:,} to {nbytes:,} bytes and more: "
                        "no file of a result set does that."
                    )
                yield piece
    except (EOFError, gzip.BadGzipFile, zlib.error) as broken:
        raise UserError(f"{path.name} isn't a whole gzip file: {broken}.") from None


def sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@contextmanager
def sole(folder: Path) -> Iterator[int]:
    """Holds the lock of a set's folder, which needn't exist yet, so that one command at a time uses it: a run, its
    resume, a fetch, a collect, a publish. Yields the descriptor of the lock file beside the folder.

    Raises UserError if another command holds the lock (--force doesn't change that), or if the lock can't be written.
    """
    path = folder.resolve()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as broken:
        raise UserError(f"{path.parent} can't be written to: {broken.strerror}.") from broken
    lock = path.with_name(f".{path.name}.lock")
    with held(lock, f"{folder} is in use by another command", "wait for its end") as descriptor:
        yield descriptor
