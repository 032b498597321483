"""Processes that never rest, for what stops them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from suite.machine.processes import descendants

SPIN = "import os\nif os.fork() == 0:\n    os.fork()\nwhile True: pass"


@contextmanager
def spinning(kind: Callable[[int], Any]) -> Iterator[tuple[Any, list[int]]]:
    """Yields what freezes them, and their process ids; ends them by it."""
    process = subprocess.Popen(["sh", "-c", f'read _; exec {sys.executable} -c "$0"', SPIN], stdin=subprocess.PIPE)
    assert process.stdin is not None
    stopped = kind(process.pid)
    process.stdin.write(b"\n")
    process.stdin.close()
    try:
        while len(pids := [process.pid, *descendants(process.pid)]) < 3:
            time.sleep(0.01)
        yield stopped, pids
    finally:
        stopped.end()
        process.wait()
