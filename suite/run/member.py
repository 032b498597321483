"""One of the processes that take turns. A thread launches it and waits for its end. Orders go to it through one pipe,
and its answers come back through another."""

from __future__ import annotations

from threading import Event, Thread

from suite.launch.insist import insist
from suite.launch.process import Exit
from suite.launch.turns import WorkerLine
from suite.protocol import MORE
from suite.run.runner import PreparedProcess


class Member:
    """A process that was launched. Its last answer says what it `asks_for` and how many bytes it needs."""

    def __init__(self, process: PreparedProcess) -> None:
        self.process = process
        self.asks_for, self.needed_bytes = MORE, 0
        self.is_over = False
        self._end: Exit | None = None
        self._failure: BaseException | None = None
        self._line = WorkerLine(str(process.request.folder))
        # In place of `join`: before Python 3.13 a Ctrl-C in a `join` makes the next one return at once (bpo-45274).
        self._is_done = Event()
        # The thread lives as long as the process, because the kernel ties the supervisor's life to it. A run that ends
        # in haste doesn't wait for the thread: the line closes, which ends the process.
        self._thread = Thread(target=self._launch, name=process.request.name, daemon=True)
        self._thread.start()

    def _launch(self) -> None:
        try:
            self._end = self.process.engine.launch(self.process.request)
        except BaseException as failure:  # noqa: BLE001 - raised again by `end`, in the thread of the run
            self._failure = failure
        self.is_over = True
        self._line.wake()
        self._is_done.set()

    def holds(self) -> bool:
        """Waits until the process is paused and ready for its next order (True) or has ended (False). This takes no
        processor time."""
        if not self.is_over:
            self.asks_for, self.needed_bytes = self._line.answer()
        return not self.is_over

    def turn(self, number: int) -> bool:
        self.go_on(f"round {number}")
        return self.holds()

    def warm_up(self) -> bool:
        """Has a process that is prepared make its first calls and warm up."""
        return self.turn(0)

    def go_on(self, order: str) -> None:
        """Gives an order, and doesn't wait for the process."""
        if not self.is_over:
            self._line.order(order)

    def finish(self, order: str) -> None:
        """Lets the process, which has got its order, go on to its end; `order` is `REST` or `ALONE`."""
        while self.holds():
            self.go_on(order)

    def end(self) -> Exit:
        """Ends the process if it still runs. Returns its exit, or raises what its launch has raised."""
        self.stop()
        if self._failure is not None:
            raise self._failure
        assert self._end is not None, "a launch returns or raises"
        return self._end

    def stop(self) -> None:
        """Closes the line, which ends a process that still runs, and waits for its end. A Ctrl-C shortens none of this:
        it is raised last."""
        insist(self._line.hang_up, self._is_done.wait, self._line.close)
