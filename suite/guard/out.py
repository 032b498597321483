"""Writes a file whole or not at all; and the one that a person names with --out, whatever that is: a file, a link's
target, a device, a pipe, or `-` for standard output."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from errno import EACCES, EBUSY, EPERM, EROFS
from pathlib import Path

from suite.errors import UserError
from suite.guard import plain_files
from suite.guard.printable import printable

OPENED = ("/dev/fd/", "/proc/")  # a file there is one that a process has opened: another in its place isn't that file
FIXED = (EACCES, EBUSY, EPERM, EROFS)  # a folder that takes no new file, or a mounted file


def write_out(out: str | Path, content: str | bytes) -> None:
    """Writes the file that a person named. A text has no control characters that a stranger's set may hold. Raises
    UserError if it can't be written."""
    target = Path(out)
    if is_standard(out):
        sys.stdout.write(content) if isinstance(content, str) else sys.stdout.buffer.write(content)
    elif target.is_dir() or str(out).endswith("/"):
        raise UserError(f"{target} is a folder. --out names the file to write, like {target / 'report.html'}.")
    else:
        with refusals(target):
            if is_stream(out) or str(target.absolute()).startswith(OPENED):
                target.write_bytes(as_bytes(content))
                return
            try:
                replace(target.resolve(), content)
            except OSError as broken:
                if broken.errno not in FIXED or not os.access(target, os.W_OK):
                    raise
                target.write_bytes(as_bytes(content))  # the file that is there can still be written anew


def write_own(target: Path, content: str | bytes) -> None:
    """Writes a file of a folder that is this program's own, such as a set's. A link there is replaced, because a
    stranger may have made it. Raises UserError if it can't be written; then nothing is left behind."""
    with refusals(target):
        replace(target, content)


def is_standard(out: str | Path | None) -> bool:
    """Whether a name means standard output, on which nothing else may be printed then."""
    return str(out) in ("-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1")


def is_stream(out: str | Path) -> bool:
    """Whether a name is of standard output, a device or a pipe, whose ending doesn't tell what is to be written."""
    return is_standard(out) or Path(out).is_char_device() or Path(out).is_fifo()


def replace(target: Path, content: str | bytes) -> None:
    draft = target.with_name(f".{target.name}.draft")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with os.fdopen(plain_files.created(draft), "wb") as file:
            file.write(as_bytes(content))
        if target.is_file() and not target.is_symlink():
            shutil.copymode(target, draft)
        draft.replace(target)
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


@contextmanager
def refusals(target: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, RuntimeError) as broken:  # RuntimeError: a link that leads to itself
        raise UserError(
            f"{target} can't be written to: {getattr(broken, 'strerror', broken)}. Choose another file with --out=FILE."
        ) from broken


def as_bytes(content: str | bytes) -> bytes:
    return printable(content).encode("utf-8") if isinstance(content, str) else content
