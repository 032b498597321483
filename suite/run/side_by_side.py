"""Runs several processes at once. This is only for processes in which nothing is timed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from queue import Empty, Queue
from threading import Thread

from suite.case import Attempt
from suite.sets.rows import Row


def side_by_side(
    run: Callable[[Attempt, bool], Row],
    attempts: Sequence[tuple[Attempt, bool]],
    at_once: int,
    starts: Callable[[Attempt], None],
    ends: Callable[[Row], None],
) -> list[Row]:
    """Calls `run(attempt, again)` for these attempts, `at_once` at a time, in their order. Returns the rows.

    Calls `starts` and `ends` for each process, in the caller's thread. Raises what `run` raises.

    The threads are daemons, so that Ctrl-C doesn't wait for the minutes that a compiler takes: the kernel
    kills a worker process when the thread that started it ends.
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
    rows: list[Row] = []
    while len(rows) < len(attempts):
        event = news.get()
        if isinstance(event, BaseException):
            raise event
        if isinstance(event, Attempt):
            starts(event)
        else:
            ends(event)
            rows.append(event)
    return rows
