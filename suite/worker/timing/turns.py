"""Turns: after its warm-up, a process holds (it waits without taking processor time) while other processes of its
question are measured."""

from __future__ import annotations

import os
from collections.abc import Iterator, MutableMapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from time import perf_counter, process_time, sleep
from typing import Any

from suite.machine.processes import descendants
from suite.protocol import ALONE, ENOUGH, REST, TURNS_VARIABLE
from suite.worker import process_memory
from suite.worker.events import Events
from suite.worker.timing.cores import processor_seconds

# Thread pools spin for up to 0.2 s after their last call. A process has come to rest once it takes less than a
# twentieth of one core's time in a window; after `WINDOWS_MAX` windows it stops waiting for that.
WINDOW_SECONDS, IDLE_SHARE, WINDOWS_MAX = 0.02, 0.05, 50
LINE_BYTES_MAX = 64


@dataclass
class Turns:
    """The worker's end of its connection with the orchestrator, and the time that the worker has held."""

    orders: int  # descriptors
    answers: int
    held_seconds: float = 0.0
    held_processor_seconds: float = 0.0
    resting_seconds: float = 0.0  # before holds, until the process had come to rest
    restless: int = 0  # holds that began before this process had come to rest
    was_alone: bool = False
    rest: bytes = field(default=b"", repr=False)

    @classmethod
    def offered(cls, environment: MutableMapping[str, str]) -> Turns | None:
        """Returns the connection that the supervisor offers by an environment variable; None without the variable,
        which is removed so that children don't inherit it."""
        descriptors = environment.pop(TURNS_VARIABLE, "").split()
        if not descriptors:
            return None
        orders, answers = map(int, descriptors)
        for descriptor in (orders, answers):
            os.set_inheritable(descriptor, False)  # noqa: FBT003 - its only form
        return cls(orders, answers)

    def hold(self, asks_for: str) -> int | None:
        """Sends the answer `asks_for` and waits for the next order. Returns the number of the round; 0 if no round
        follows, None if the process is to go on alone."""
        start = perf_counter()
        self.come_to_rest()
        self.resting_seconds += perf_counter() - start
        answer = f"{asks_for} {process_memory.needed_bytes()}\n".encode()
        processor, start = own_seconds(), perf_counter()
        os.write(self.answers, answer)
        order = self.read_order()
        self.held_seconds += perf_counter() - start
        self.held_processor_seconds += own_seconds() - processor
        if order in (REST, ALONE):
            return 0 if order == REST else None
        return int(order.removeprefix("round "))

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Runs the `with` block while the other processes hold that are gated at once: each has one such block, and
        holds before and after it."""
        self.was_alone = True
        self.hold(ENOUGH)
        yield
        self.hold(ENOUGH)

    def come_to_rest(self) -> None:
        """Waits until this process's threads and children have gone to sleep, a second at most."""
        for _ in range(WINDOWS_MAX):
            before = own_seconds()
            sleep(WINDOW_SECONDS)
            if own_seconds() - before < IDLE_SHARE * WINDOW_SECONDS:
                return
        self.restless += 1

    def read_order(self) -> str:
        while b"\n" not in self.rest:
            data = os.read(self.orders, LINE_BYTES_MAX)
            if not data:
                raise EOFError("the orchestrator has gone")
            self.rest += data
        line, _, self.rest = self.rest.partition(b"\n")
        return line.decode("ascii")

    def columns(self) -> dict[str, Any]:
        return {
            "held_seconds": self.held_seconds,
            "held_processor_seconds": self.held_processor_seconds,
            "restless_handovers": self.restless,
        }


def own_seconds() -> float:
    return process_time() + sum(map(processor_seconds, descendants(os.getpid())))


def wait(turns: Turns | None, events: Events) -> None:
    """Waits for the orchestrator's next order, if this process takes turns."""
    if turns is not None:
        events.phase("hold")
        turns.hold(ENOUGH)
