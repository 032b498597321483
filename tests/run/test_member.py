"""A process that takes turns, as the run sees it."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from suite.launch.turns import WorkerLine
from suite.run.member import Member
from tests.ctrl_c import heeding_ctrl_c

MAIN = threading.main_thread().ident


def test_a_ctrl_c_does_not_end_the_wait_for_a_process_that_still_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The line may close only once the launching thread needs it no more: its `wake` would find it closed."""
    monkeypatch.setattr(threading, "excepthook", lambda failure: failures.append(failure.exc_value))
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
    with heeding_ctrl_c():
        member = Member(cast(Any, SimpleNamespace(request=request, engine=SimpleNamespace(launch=launch))))
        with pytest.raises(KeyboardInterrupt):
            member.stop()
    assert ended, "it has waited for the end, and the Ctrl-C isn't lost"
    assert cast(Any, member.end()) == "the end"
    assert failures == []


@pytest.mark.parametrize("when", ["before", "after"])
@pytest.mark.parametrize("action", ["hang_up", "close"])
def test_a_ctrl_c_at_the_end_of_a_process_is_raised_once_its_line_is_closed(
    action: str, when: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the run would go on as if nobody had pressed it."""
    request = SimpleNamespace(folder=tmp_path, name="a process")
    before = os.listdir("/proc/self/fd")
    member = Member(cast(Any, SimpleNamespace(request=request, engine=SimpleNamespace(launch=lambda _: "the end"))))
    assert not member.holds()
    monkeypatch.setattr(WorkerLine, action, interrupted_once(getattr(WorkerLine, action), when))
    with pytest.raises(KeyboardInterrupt):
        member.end()
    assert os.listdir("/proc/self/fd") == before and not [*tmp_path.iterdir()]
    assert cast(Any, member.end()) == "the end"


def interrupted_once(method: Callable[[Any], None], when: str) -> Callable[[Any], None]:
    """The method, which Ctrl-C interrupts at its first call: before anything is done, or after all is."""
    pressed = []

    def interrupted(self: Any) -> None:
        first = not pressed
        pressed.append(True)
        if first and when == "before":
            raise KeyboardInterrupt
        method(self)
        if first:
            raise KeyboardInterrupt

    return interrupted
