"""Workers that lay links and pipes where others will read or write: no run waits for one, no file elsewhere is read or
written, and what happened stands in the row."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite.errors import UserError
from suite.launch import events
from suite.launch.attempt import run_reader, tail
from suite.launch.local import Local
from suite.protocol import Protocol
from tests.launch.programs import Run, write_program
from tests.launch.test_run_attempt import attempt_columns

SECRET = "-----BEGIN OPENSSH PRIVATE KEY-----"


@pytest.fixture(autouse=True)
def patience() -> Iterator[None]:
    """A test that waits for a pipe's other end fails, in place of never ending."""

    def give_up(*_: object) -> None:
        pytest.fail("it waits for a worker's pipe")

    before = signal.signal(signal.SIGALRM, give_up)
    signal.setitimer(signal.ITIMER_REAL, 60, 5)  # again and again: what ends a supervisor waits for it, too
    yield
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, before)


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file of the user's own."""
    path = tmp_path / "id_ed25519"
    path.write_text(SECRET)
    return path


def test_a_log_that_became_a_link_is_not_read(secret: Path, tmp_path: Path) -> None:
    columns = attempt_columns(tmp_path, f"os.remove('stderr.log'); os.symlink({str(secret)!r}, 'stderr.log'); exit(1)")
    assert columns["outcome"] == "error" and columns["stderr_tail"] is None
    assert SECRET not in str(columns)


def test_events_that_became_a_link_are_not_read(secret: Path, tmp_path: Path) -> None:
    columns = attempt_columns(tmp_path, f"os.symlink({str(secret)!r}, 'events.jsonl')")
    assert columns["outcome"] == "error" and "cannot be read" in columns["reason"]
    assert SECRET not in str(columns)


@pytest.mark.parametrize("name", ["events.jsonl", "stdout.log", "stderr.log", "exit.json", "exit.json.tmp"])
def test_nobody_waits_for_a_pipe(name: str, tmp_path: Path) -> None:
    code = f"name = {name!r}\nif os.path.lexists(name): os.remove(name)\nos.mkfifo(name)\ntime.sleep(1)"
    columns = attempt_columns(tmp_path, code)
    assert columns["outcome"] == "error" and columns["exit_code"] == 0


@pytest.mark.parametrize("name", ["exit.json", "exit.json.tmp"])
def test_the_supervisor_s_account_is_written_nowhere_else(name: str, secret: Path, run: Run) -> None:
    assert run(f"os.symlink({str(secret)!r}, {name!r})").exit_code == 0
    assert secret.read_text() == SECRET


def test_the_account_stands_where_a_worker_has_laid_a_folder(run: Run) -> None:
    assert run("os.makedirs('exit.json/in/the/way'); os.makedirs('exit.json.tmp/too')").exit_code == 0


@pytest.mark.parametrize("name", ["stdout.log", "stderr.log"])
def test_a_log_that_is_a_link_from_the_start_is_written_nowhere_else(
    name: str, secret: Path, tmp_path: Path, run: Run
) -> None:
    (tmp_path / name).symlink_to(secret)
    assert run("print('out'); print('err', file=sys.stderr)").exit_code == 0
    assert secret.read_text() == SECRET and (tmp_path / name).read_text() == f"{name[3:6]}\n"


def test_what_an_attempt_cut_short_has_left_is_no_way_out(secret: Path, tmp_path: Path) -> None:
    """Its question is written into the same folder."""
    (tmp_path / "logs").mkdir()
    (tmp_path / "logs" / "ATTEMPT.json").symlink_to(secret)
    attempt_columns(tmp_path, "pass")
    assert secret.read_text() == SECRET


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/etc/hostname"), Path.mkdir])
def test_what_is_no_file_has_no_events_and_no_last_lines(make: object, tmp_path: Path) -> None:
    path = tmp_path / "log"
    make(path)  # type: ignore[operator]
    assert tail(path) == ""
    assert "cannot be read" in str(events.read(path).problem)


@pytest.mark.parametrize("name", ["0-1-step.py", "summary.json", "below/trace.pb"])
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_process_s_programs_with_a_link_or_a_pipe_are_not_read(
    kind: str, name: str, secret: Path, tmp_path: Path
) -> None:
    """Whatever is read of them is kept in the set, and published with it."""
    path = tmp_path / "ir" / name
    path.parent.mkdir(parents=True)
    os.mkfifo(path) if kind == "pipe" else path.symlink_to(secret)
    with pytest.raises(UserError, match="couldn't be read: Neither a file nor a folder"):
        read_programs(tmp_path / "ir", tmp_path)


def test_a_folder_of_programs_that_is_a_link_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "ir").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UserError, match="couldn't be read: Not a folder"):
        read_programs(tmp_path / "ir", tmp_path)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def read_programs(folder: Path, place: Path) -> str:
    """By a reader that says what is in the files there."""
    code = "folder = sys.argv[3]\nopen(f'{folder}/summary.json', 'w').write('read')"
    python = write_program(place / "python", code)
    return run_reader(
        "reader", folder, "summary.json", engine=Local(python), protocol=Protocol(timeout_seconds=5.0), cpus=[0]
    )
