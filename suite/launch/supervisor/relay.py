"""Connects the orchestrator with a worker that takes turns: by two named pipes in the worker's folder, which the
worker's supervisor relays. They work for a process of this machine and for a container without a network alike.

Orders go to the worker, answers come back. From its answer until the next order the worker holds: it waits for its
turn. The supervisor relays both, so it knows when its worker holds. It then stops the clocks of the deadlines and looks
at the worker less often. Standard library only, and quick to import: the supervisor imports this.
"""

from __future__ import annotations

import os
import time
from contextlib import suppress

ORDERS, ANSWERS = "orders.pipe", "answers.pipe"  # in the worker's folder
LINE_BYTES_MAX = 4096  # of an answer; Linux writes up to this many bytes to a pipe in one piece


class Relay:
    """The supervisor's part: passes orders and answers on, and measures how long its worker holds."""

    def __init__(self, folder: str) -> None:
        """Opens the pipes before the worker runs, since a worker could put other pipes in their place. Raises OSError
        if they are gone: the orchestrator has given up."""
        flags = os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        self.orders = os.open(os.path.join(folder, ORDERS), os.O_RDONLY | flags)
        self._to_orchestrator = os.open(os.path.join(folder, ANSWERS), os.O_WRONLY | flags)
        self.worker_orders, self._to_worker = os.pipe()
        self.answers, self.worker_answers = os.pipe()
        self._held_since: float | None = None
        self._held_seconds = 0.0

    def begin(self) -> None:
        """Closes the supervisor's copies of the worker's ends of the pipes. To be called once the worker is forked."""
        os.close(self.worker_orders)
        os.close(self.worker_answers)

    @property
    def holds(self) -> bool:
        return self._held_since is not None

    def held_seconds(self) -> float:
        return self._held_seconds + (time.monotonic() - self._held_since if self._held_since is not None else 0.0)

    def pass_order(self) -> bool:
        """Passes on what the orchestrator has written. False if it has closed its end."""
        try:
            data = os.read(self.orders, LINE_BYTES_MAX)
        except BlockingIOError:
            return True
        self._held_seconds, self._held_since = self.held_seconds(), None
        with suppress(BrokenPipeError):  # the worker is dead, and its status will say how it ended
            os.write(self._to_worker, data)
        return bool(data)

    def pass_answer(self) -> bool:
        """Passes on an answer: from here on the worker holds. False if the worker has closed its end."""
        data = os.read(self.answers, LINE_BYTES_MAX)
        if data and self._held_since is None:
            self._held_since = time.monotonic()
        with suppress(OSError):  # nobody reads any more, or the worker has written far too much
            os.write(self._to_orchestrator, data)
        return bool(data)
