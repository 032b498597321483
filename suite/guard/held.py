"""A lock file. The kernel releases the lock when the process that holds it ends, even if that process is killed."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from suite.errors import UserError


class Busy(UserError):
    """Another process holds the lock."""


@contextmanager
def held(path: Path, what: str, advice: str) -> Iterator[int]:
    """Holds the lock file at `path`, and deletes it afterwards. Yields its descriptor: a child process that inherits it
    holds the lock too.

    Raises Busy if another process holds the lock, with the message `WHAT (process ID): ADVICE.`
    """
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.read(descriptor, 32).decode("ascii", "replace") or "just begun"
            os.close(descriptor)
            raise Busy(f"{what} (process {holder}): {advice}.") from None
        if is_at(descriptor, path):
            break
        os.close(descriptor)  # the lock's last holder has deleted the file meanwhile: try again
    try:
        os.truncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        yield descriptor
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
