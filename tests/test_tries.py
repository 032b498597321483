"""A test that fails beside others has one more try, and one that always fails has failed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from suite.environments import ROOT
from tests import tries
from tests.ctrl_c import on_ctrl_c

ONCE = """
from pathlib import Path
def test_once():
    tried = Path("tried")
    before, _ = tried.exists(), tried.touch()
    assert before
"""


@pytest.mark.parametrize(
    ("code", "words", "ended"),
    [
        (ONCE, (), 0),
        (f"{ONCE}def test_never(): assert 0", (), 1),
        (ONCE, ("-k", "nothing"), 5),
        ("def test_good(): pass", (), 0),
        ("import nothing_at_all", (), 2),
    ],
    ids=["once", "never", "none", "good", "unreadable"],
)
def test_what_failed_is_tried_once_more(
    code: str, words: tuple[str, ...], ended: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_it.py").write_text(code, encoding="utf-8")
    assert tries.pytest("-q", *words, folder=tmp_path, environ=os.environ) == ended
    assert ("once more" in capfd.readouterr().out) is (code.startswith(ONCE) and not words)


LONG = """
import pathlib, time
import pytest
@pytest.fixture
def started():
    pathlib.Path("started").touch()
    yield
    time.sleep(1)
    pathlib.Path("ended").touch()
def test_long(started): time.sleep(60)
"""


def test_ctrl_c_lets_tests_end_what_they_have_started(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(LONG, encoding="utf-8")
    program = (
        "import os, pathlib, sys; from tests import tries; "
        "sys.exit(tries.pytest(folder=pathlib.Path(sys.argv[1]), environ=os.environ))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program, str(tmp_path)], cwd=ROOT, start_new_session=True, preexec_fn=on_ctrl_c()
    ) as running:
        while not (tmp_path / "started").exists():
            assert running.poll() is None
            time.sleep(0.05)
        os.killpg(running.pid, signal.SIGINT)
        assert running.wait() == 2
    assert (tmp_path / "ended").exists()
