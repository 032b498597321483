"""Runs processes of which nothing is timed several at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import Empty, Queue
from threading import Thread
from typing import Protocol as Interface

from suite.case import Attempt
from suite.results.store.rows import Row


class Listener(Interface):
    """What hears of each process; see `suite.run.session.Listener`. It is called in the caller's thread alone."""

    def attempt_starts(self, attempt: Attempt) -> None:
        """Takes note of a process that has been started."""

    def attempt_ends(self, row: Row) -> None:
        """Takes note of a process's row."""


def side_by_side(
    run: Callable[[Attempt, bool], Row], attempts: Sequence[tuple[Attempt, bool]], at_once: int, listener: Listener
) -> None:
    """Runs `run(attempt, again)` of these attempts, `at_once` at a time, in their order. Raises what `run` raises.

    The threads are daemons: the kernel ends a process whose thread is gone, so that a run that is stopped by Ctrl-C
    needn't wait for the minutes that a compiler takes.
    """
    waiting: Queue[tuple[Attempt, bool]] = Queue()
    for pair in attempts:
        waiting.put(pair)
    news: Queue[Attempt | Row | BaseException] = Queue()

    def work() -> None:
        try:
            while True:
                attempt, again = waiting.get_nowait()
                news.put(attempt)
                news.put(run(attempt, again))
        except Empty:
            return
        except BaseException as failure:  # noqa: BLE001 - raised again in the caller's thread
            news.put(failure)

    for _ in range(min(at_once, len(attempts))):
        Thread(target=work, daemon=True).start()
    unfinished = len(attempts)
    while unfinished:
        what = news.get()
        if isinstance(what, BaseException):
            raise what
        if isinstance(what, Attempt):
            listener.attempt_starts(what)
        else:
            listener.attempt_ends(what)
            unfinished -= 1
