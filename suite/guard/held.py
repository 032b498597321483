"""Locks: a file, or a name that all of this machine sees. The kernel releases a lock when the process that holds it
ends, even if that process is killed."""

from __future__ import annotations

import errno
import fcntl
import os
import socket
import struct
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


@contextmanager
def held_by_all(name: str, what: str, advice: str) -> Iterator[None]:
    """Holds a name among the abstract sockets (unix(7)), which every user sees whatever folders they have; only another
    network namespace, as a container has, has names of its own. Raises Busy as `held` does."""
    with socket.socket(socket.AF_UNIX) as lock:
        try:
            lock.bind(address(name))
            lock.listen()
        except OSError as taken:
            if taken.errno != errno.EADDRINUSE:
                raise
            raise Busy(f"{what} ({holder(name)}): {advice}.") from None
        yield


def address(name: str) -> bytes:
    return b"\0" + os.fsencode(name)[-100:]  # the kernel takes 107 bytes


def holder(name: str) -> str:
    """Returns `process 12`, or `process 12 of another user`."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.settimeout(0)
        try:
            asking.connect(address(name))
        except OSError:  # it has just begun or ended, or hundreds have asked
            return "process unknown"
        pid, user, _ = struct.unpack("3i", asking.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
    return f"process {pid}" if user == os.getuid() else f"process {pid} of another user"
