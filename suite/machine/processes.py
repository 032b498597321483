"""Finds processes and reads their figures through /proc. It needs only the standard library and is quick to import,
because the supervisor of each worker imports it."""

from __future__ import annotations

import os
from collections.abc import Callable


def children(pid: int) -> list[int]:
    pids: list[int] = []
    try:
        threads = os.listdir(f"/proc/{pid}/task")  # a child belongs to the thread that forked it
    except OSError:
        return pids  # the process has just ended
    for thread in threads:
        try:
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                pids += map(int, file.read().split())
        except OSError:
            continue  # the thread has just ended
    return pids


def descendants(root: int, listing: Callable[[int], list[int]] = children) -> list[int]:
    """Returns the process ids of all descendants of `root`; `listing` gives the children of one process."""
    pids: list[int] = []
    waiting = [root]
    while waiting:
        below = [pid for pid in listing(waiting.pop()) if pid not in pids]
        pids += below
        waiting += below
    return pids


def stat(pid: int | str) -> list[str]:
    """Returns the fields of /proc/PID/stat (proc(5)) after the command's name, from `state` on. Raises OSError if there
    is no such process."""
    with open(f"/proc/{pid}/stat", encoding="utf-8", errors="replace") as file:
        return file.read().rpartition(")")[2].split()
