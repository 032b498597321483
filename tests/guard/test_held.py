"""A lock is one process's, and the kernel's to let go."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from suite.errors import UserError
from suite.guard.held import Busy, held
from suite.sets.files import sole

HOLD = """
import sys, time
from pathlib import Path
from suite.guard.held import held
with held(Path(sys.argv[1]), "It is held", "wait"):
    print("held", flush=True)
    time.sleep(60)
"""


def test_it_is_refused_while_another_process_holds_it_and_free_once_that_is_killed(tmp_path: Path) -> None:
    lock = tmp_path / "lock"
    with subprocess.Popen([sys.executable, "-c", HOLD, str(lock)], stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout is not None and other.stdout.readline() == "held\n"
        said = rf"It is held \(process {other.pid}\): wait\."
        with pytest.raises(Busy, match=said), held(lock, "It is held", "wait"):
            pass
        other.kill()
        other.wait()
    with held(lock, "It is held", "wait"):
        assert lock.read_text() == str(os.getpid())
    assert not lock.exists()


def test_a_link_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "precious").write_text("precious")
    (tmp_path / "lock").symlink_to(tmp_path / "precious")
    with pytest.raises(OSError, match="symbolic links"), held(tmp_path / "lock", "It is held", "wait"):
        pass
    assert (tmp_path / "precious").read_text() == "precious"


def test_only_one_of_many_holds_it_at_any_time(tmp_path: Path) -> None:
    """Though each removes it in the end."""
    inside, most, times = [0], [0], [0]

    def take() -> None:
        for _ in range(200):
            try:
                with held(tmp_path / "lock", "It is held", "wait"):
                    inside[0] += 1
                    most[0] = max(most[0], inside[0])
                    times[0] += 1
                    inside[0] -= 1
            except Busy:
                continue

    threads = [threading.Thread(target=take) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert most == [1] and times[0] > 0


def test_a_set_has_one_lock_by_whichever_path_it_is_named(tmp_path: Path) -> None:
    (tmp_path / "a-set").mkdir()
    (tmp_path / "latest").symlink_to("a-set")
    with sole(tmp_path / "a-set"):
        with pytest.raises(UserError, match="latest is in use by another command"), sole(tmp_path / "latest"):
            pass
        with sole(tmp_path / "another"):
            pass
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a-set", "latest"]
