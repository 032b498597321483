"""A process that takes turns, as the run sees it."""

from __future__ import annotations

import signal
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from suite.run.member import Member

MAIN = threading.main_thread().ident


def test_a_ctrl_c_does_not_end_the_wait_for_a_process_that_still_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line may close only once the launching thread needs it no more: its `wake` would find it closed."""
    monkeypatch.setattr(threading, "excepthook", lambda failure: failures.append(failure.exc_value))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
    failures: list[Any] = []

    def launch(_: object) -> str:
        for _pause in range(3):
            interrupted.wait(0.05)
            signal.pthread_kill(cast(int, MAIN), signal.SIGINT)
        interrupted.wait(0.1)
        ended.append(True)
        return "the end"

    interrupted, ended = threading.Event(), list[bool]()
    request = SimpleNamespace(folder=tmp_path, name="a process")
    try:
        member = Member(cast(Any, SimpleNamespace(request=request, engine=SimpleNamespace(launch=launch))))
        while not ended:
            try:
                member.stop()
            except KeyboardInterrupt:
                continue
    finally:
        signal.signal(signal.SIGINT, before)
    assert cast(Any, member.end()) == "the end"
    assert failures == []
