"""The orchestrator's end of the line to a worker that waits for its turn. suite/protocol.py has the words of
orders and answers."""

from __future__ import annotations

import os
import re
from contextlib import suppress

from suite.launch.supervisor.relay import ANSWERS, LINE_BYTES_MAX, ORDERS
from suite.protocol import ENOUGH, FULL, MORE

WAKE = b"\n"


class WorkerLine:
    """Writes orders to a worker and reads its answers. The supervisor ends the worker once this end is closed: by
    `hang_up`, or because this process has ended."""

    def __init__(self, folder: str) -> None:
        """Makes the pipes in `folder`. Neither opening nor writing waits for the supervisor, because this process holds
        both ends of each pipe open."""
        self._paths = [os.path.join(folder, name) for name in (ORDERS, ANSWERS)]
        for path in self._paths:
            os.mkfifo(path, 0o600)
        self._orders, self._answers = ([os.open(path, os.O_RDWR | os.O_CLOEXEC)] for path in self._paths)
        self._answers.append(os.open(self._paths[1], os.O_WRONLY | os.O_NONBLOCK | os.O_CLOEXEC))  # for `wake`

    def order(self, words: str) -> None:
        """Writes one order. A worker that has ended doesn't read it."""
        os.write(self._orders[0], words.encode() + b"\n")

    def answer(self) -> tuple[str, int]:
        """Waits for the worker's next answer, or for `wake`; the wait takes no processor time. Returns what the worker
        asks for (`more`, `enough` or `full`) and the bytes that it needs. A line that isn't an answer counts as
        `full`."""
        words = os.read(self._answers[0], LINE_BYTES_MAX).decode("utf-8", "replace").split()
        if len(words) == 2 and words[0] in (MORE, ENOUGH, FULL) and re.fullmatch(r"[0-9]{1,18}", words[1]):
            return words[0], int(words[1])
        return FULL, 0

    def wake(self) -> None:
        """Ends a wait for an answer, once the process has ended; called from the thread that launched it."""
        with suppress(BlockingIOError):  # a pipe that is full wakes by itself
            os.write(self._answers[1], WAKE)

    def hang_up(self) -> None:
        """Removes the pipes and closes the orders' end: a supervisor that starts later finds no pipe, and one that has
        the pipes open ends its worker."""
        for path in self._paths:
            with suppress(OSError):  # removed already, by us or by the worker
                os.unlink(path)
        while self._orders:
            os.close(self._orders.pop())

    def close(self) -> None:
        """Closes the answers' end, once nothing calls `wake` any more."""
        while self._answers:
            os.close(self._answers.pop())
