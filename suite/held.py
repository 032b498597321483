"""A lock that the kernel lets go of with the process that holds it, however that ends."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from suite.errors import UserError


class Busy(UserError):
    """Another process holds it."""


@contextmanager
def held(path: Path, what: str, advice: str) -> Iterator[int]:
    """Hold a file that is made for it, and is gone afterwards; its descriptor, for a child that goes on holding it.

    Raises Busy, with `what` somebody else does and what to do, where another process holds it.
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
        os.close(descriptor)  # who held it has removed it meanwhile
    try:
        os.truncate(descriptor, 0)
        os.write(descriptor, str(os.getpid()).encode())
        yield descriptor
    finally:
        path.unlink(missing_ok=True)
        os.close(descriptor)


def is_at(descriptor: int, path: Path) -> bool:
    """Whether an open file still lies at a path."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.lstat())
    except FileNotFoundError:
        return False
