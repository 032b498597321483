"""Files where somebody else can write: in a worker's folder, in a fetched set, in a folder that all users share. They
are read only if they are plain, never through a link and never by waiting for a pipe's other end; and written only
where nothing lies. Standard library only, and quick to import: the supervisor of a worker does.

A hard link is a plain file: whoever can make one to a file can read that file as well.
"""

from __future__ import annotations

import errno
import os
import stat
from typing import BinaryIO

StrPath = str | os.PathLike[str]


def opened(path: StrPath) -> BinaryIO:
    """A plain file, to be read. Raises OSError for whatever else lies there, and where nothing does."""
    # Without O_NONBLOCK, opening a pipe waits until somebody writes into it; to a plain file it says nothing.
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "Not a plain file", str(path))
    return open(descriptor, "rb")


def read(path: StrPath, most_bytes: int) -> bytes:
    """All of a plain file. Raises OSError as `opened` does, and for a larger one."""
    with opened(path) as file:
        data = file.read(most_bytes + 1)
    if len(data) > most_bytes:
        raise OSError(errno.EFBIG, f"Larger than {most_bytes:,} bytes", str(path))
    return data


def created(path: StrPath) -> int:
    """The descriptor of a new file, to be written; what lay there is gone, and a link's other end is untouched."""
    clear(path)
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)


def write(path: StrPath, text: str) -> None:
    """A new file of a text, in place of whatever lay there."""
    with open(created(path), "w", encoding="utf-8") as file:
        file.write(text)


def clear(path: StrPath) -> None:
    """Remove whatever lies there; of a link, the link."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError:
        if not stat.S_ISDIR(os.lstat(path).st_mode):
            raise
        import shutil  # takes longer to load than all else here

        shutil.rmtree(path)


def check_tree(folder: StrPath) -> None:
    """Raises OSError unless a folder is one, and all in it are plain files and folders."""
    if not stat.S_ISDIR(os.lstat(folder).st_mode):
        raise OSError(errno.ENOTDIR, "Not a folder", str(folder))
    for entry in os.scandir(folder):
        if entry.is_dir(follow_symlinks=False):
            check_tree(entry.path)
        elif not entry.is_file(follow_symlinks=False):
            raise OSError(errno.EINVAL, "Neither a file nor a folder", entry.path)
