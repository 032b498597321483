"""Reads and writes files safely in folders where others can write: a worker's folder, a fetched set's, one that all
users share.

Only plain files are read: links aren't followed, and pipes aren't waited for. A file is always written as a new one. A
hard link counts as a plain file, because a user who can make one can read the file anyway. The module needs only the
standard library and is quick to import, because the supervisor of each worker imports it.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

PART_BYTES = 2**20
StrPath = str | os.PathLike[str]


def opened(path: StrPath) -> BinaryIO:
    """Opens a plain file for reading. Raises OSError if nothing is at the path, or anything but a plain file."""
    # Without O_NONBLOCK, opening a pipe waits until somebody writes into it; a plain file ignores the flag.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "Not a plain file", str(path))
    return open(descriptor, "rb")


def read(path: StrPath, most_bytes: int) -> bytes:
    """Returns the bytes of a plain file. Raises OSError as `opened` does, and for a larger file."""
    data = bytearray()
    with opened(path) as file:
        # By parts: a read of `most_bytes` would take that much memory, however small the file is.
        while len(data) <= most_bytes and (part := file.read(min(PART_BYTES, most_bytes + 1 - len(data)))):
            data += part
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"Larger than {most_bytes:,} bytes", str(path))
    return bytes(data)


def created(path: StrPath) -> int:
    """Returns the descriptor of a new file for writing. A file, folder or link at the path is deleted, but never a
    link's target."""
    clear(path)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)


def write(path: StrPath, text: str) -> None:
    with open(created(path), "w", encoding="utf-8") as file:
        file.write(text)


def clear(path: StrPath) -> None:
    """Deletes whatever is at a path: a file, a folder with its content, or a link (not its target)."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError:
        # In a file system that takes no change, this is said also of what isn't there.
        if not os.path.lexists(path) or not stat.S_ISDIR(os.lstat(path).st_mode):
            raise
        import shutil  # imported only here, because it takes longer to import than everything else in this file

        shutil.rmtree(path)


def check_tree(folder: StrPath) -> None:
    """Raises OSError unless the path is a folder in which there are only plain files and folders."""
    if not stat.S_ISDIR(os.lstat(folder).st_mode):
        raise OSError(errno.ENOTDIR, "Not a folder", str(folder))
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            check_tree(entry.path)
        elif not entry.is_file(follow_symlinks=False):
            raise OSError(errno.EINVAL, "Neither a file nor a folder", entry.path)
