"""The line to a worker that holds, with real processes: orders and answers, deadlines, and the end of either side."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite.launch.local import launch
from suite.launch.process import Exit, ProcessLimits
from suite.launch.turns import WorkerLine
from suite.protocol import FULL, MORE
from tests.launch.programs import HUNG_SECONDS, alive, read_pids, write_program

TALK = """
orders, answers = map(int, os.environ["STACKWARS_TURNS"].split())
def hold(words=b"more 5\\n"):
    os.write(answers, words)
    return os.read(orders, 100)
"""


class Worker:
    """A program under a supervisor, launched in a thread, and the line to it."""

    def __init__(self, folder: Path, code: str, **limits: float) -> None:
        program = write_program(folder / "program.py", TALK + code)
        self.line = WorkerLine(str(folder))
        asked = {"timeout_seconds": HUNG_SECONDS, "compile_timeout_seconds": HUNG_SECONDS} | limits
        self.end: Exit | None = None

        def run() -> None:
            self.end = launch([str(program)], {}, folder, ProcessLimits(**asked), company=2)  # type: ignore[arg-type]
            self.line.wake()

        self.thread = threading.Thread(target=run)
        self.thread.start()

    def ended(self) -> Exit:
        self.thread.join(HUNG_SECONDS)
        assert self.end is not None
        return self.end


@pytest.fixture
def workers() -> Iterator[list[Worker]]:
    started: list[Worker] = []
    yield started
    for worker in started:
        worker.line.hang_up()
        worker.thread.join()
        worker.line.close()


def test_orders_and_answers_pass_the_supervisor(tmp_path: Path, workers: list[Worker]) -> None:
    workers.append(worker := Worker(tmp_path, "sys.exit(0 if hold() + hold() == b'round 1\\nround 2\\n' else 1)"))
    for number in (1, 2):
        assert worker.line.answer() == (MORE, 5)
        worker.line.order(f"round {number}")
    assert worker.line.answer() == (FULL, 0), "woken by its end"
    assert worker.ended().exit_code == 0


@pytest.mark.parametrize("words", ["", "more\\n", "more -5\\n", "most 5\\n", "more 5 6\\n", "more " + "9" * 20 + "\\n"])
def test_what_is_no_answer_asks_for_nothing(tmp_path: Path, workers: list[Worker], words: str) -> None:
    workers.append(worker := Worker(tmp_path, f"os.write(answers, b'{words}' or b'\\xff\\n')"))
    assert worker.line.answer() == (FULL, 0)


def test_deadlines_stand_still_while_a_worker_holds(tmp_path: Path, workers: list[Worker]) -> None:
    workers.append(worker := Worker(tmp_path, "hold(); hold()", timeout_seconds=2.0))
    for _ in range(2):
        worker.line.answer()
        time.sleep(1.6)
        assert worker.end is None
        worker.line.order("round 1")
    end = worker.ended()
    assert (end.exit_code, end.timed_out) == (0, False)
    assert end.duration_seconds > 3.2


def test_a_turn_that_hangs_is_ended_at_the_deadline(tmp_path: Path, workers: list[Worker]) -> None:
    workers.append(worker := Worker(tmp_path, "hold(); time.sleep(FOREVER)", timeout_seconds=1.5))
    worker.line.answer()
    time.sleep(1.0)
    worker.line.order("round 1")
    end = worker.ended()
    assert (end.timed_out, end.timeout_kind, end.signal) == (True, "total", signal.SIGKILL)


def test_hanging_up_ends_a_worker_that_holds_with_its_children(tmp_path: Path, workers: list[Worker]) -> None:
    workers.append(worker := Worker(tmp_path, "note(worker=os.getpid(), daemon=daemon()); hold()"))
    worker.line.answer()
    worker.line.hang_up()
    assert worker.ended().interrupted
    assert not any(map(alive, read_pids(tmp_path).values()))
    assert not [*tmp_path.glob("*.pipe")]


def test_a_supervisor_that_comes_too_late_starts_nothing(tmp_path: Path) -> None:
    program = write_program(tmp_path / "program.py", "open('ran', 'w')")
    line = WorkerLine(str(tmp_path))
    line.hang_up()
    limits = ProcessLimits(timeout_seconds=HUNG_SECONDS, compile_timeout_seconds=HUNG_SECONDS)
    end = launch([str(program)], {}, tmp_path, limits, company=2)
    line.close()
    assert end.interrupted and "orders.pipe" in (end.problem or "")
    assert not (tmp_path / "ran").exists()


def test_a_crash_while_holding_wakes_who_waits(tmp_path: Path, workers: list[Worker]) -> None:
    workers.append(worker := Worker(tmp_path, "note(worker=os.getpid()); hold()"))
    assert worker.line.answer() == (MORE, 5)
    os.kill(read_pids(tmp_path)["worker"], signal.SIGSEGV)
    worker.line.answer()
    assert worker.ended().signal == signal.SIGSEGV
    worker.line.order("round 1")  # nobody reads it


def test_a_flood_of_answers_blocks_nobody(tmp_path: Path, workers: list[Worker]) -> None:
    code = "for _ in range(1000): os.write(answers, b'x' * 4096)\nprint('done')"
    workers.append(worker := Worker(tmp_path, code))
    assert worker.ended().exit_code == 0
