"""Locked environments: reused by lock hash, never half-made, refused with a wrong hash; locks without addresses."""

from __future__ import annotations

import re
import shutil
import sys
import threading
import time
from pathlib import Path

import pytest

from suite import doctor, environments, locks
from suite.errors import UserError

LOCKS_FOLDER = environments.ROOT / "docker" / "locks"
LOCKS = sorted(LOCKS_FOLDER.rglob("*.txt"))
SIX = """six==1.17.0 \\
    --hash=sha256:4721f391ed90541fddacab5acf947aa0d3dc7d27b2e1e8eda2be8970586c3274
"""


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one tiny environment, `six`."""
    (tmp_path / "docker" / "locks" / "cpu").mkdir(parents=True)
    (tmp_path / "docker" / "locks" / "cpu" / "six.txt").write_text(SIX)
    monkeypatch.setattr(environments, "ROOT", tmp_path)
    return tmp_path


def test_an_environment_is_made_once_with_byte_code(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    made = environments.ensure("six")
    assert list(made.python.parents[1].glob("lib/*/site-packages/__pycache__/six.*.pyc"))
    monkeypatch.setattr(environments, "run", None)  # calling it would fail
    assert environments.ensure("six") == made


def test_a_half_made_environment_is_made_again(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = environments.place("six", "cpu")
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").touch()
    assert environments.status("six", "cpu") == "half-made"
    environments.ensure("six")
    assert "half-made" in capsys.readouterr().err
    assert environments.status("six", "cpu") == "ready"


def test_a_wrong_hash_is_refused_and_nothing_stays(root: Path) -> None:
    lock = environments.lock_path("six", "cpu")
    lock.write_text(SIX.replace("4721f391", "00000000"))
    with pytest.raises(UserError, match="six") as refused:
        environments.ensure("six")
    assert "hash" in str(refused.value).lower()
    assert str(lock) in str(refused.value)
    assert not environments.place("six", "cpu").exists()


def test_an_unknown_environment_names_the_near_match(root: Path) -> None:
    with pytest.raises(UserError, match="Did you mean 'six'"):
        environments.ensure("sixx")


def test_an_environment_whose_python_is_gone_is_not_ready(root: Path) -> None:
    folder = environments.place("six", "cpu")
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(root / "uninstalled")
    (folder / environments.MARKER).write_text(environments.lock_sha256("six", "cpu") or "")
    assert environments.status("six", "cpu") == "half-made"
    (folder / "bin" / "python").unlink()
    (folder / "bin" / "python").symlink_to(sys.executable)
    assert environments.status("six", "cpu") == "ready"
    environments.lock_path("six", "cpu").write_text(SIX + "# another day\n")
    assert environments.status("six", "cpu") == "missing"  # of this lock; the other's folder stands until pruned


def test_another_lock_makes_the_orchestrator_again_and_says_so(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "docker" / "locks" / "orchestrator.txt").write_text(SIX)
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "bin" / "python").symlink_to(sys.executable)
    (root / ".venv" / environments.MARKER).write_text("0" * 64)
    (root / ".venv" / "left-over").touch()
    assert environments.status("orchestrator", "cpu") == "half-made"
    real = environments.run
    monkeypatch.setattr(environments, "run", lambda c, f: "" if "--editable" in c else real(c, f))
    environments.ensure("orchestrator")
    assert "is removed and made again" in capsys.readouterr().err
    assert not (root / ".venv" / "left-over").exists()
    assert environments.status("orchestrator", "cpu") == "ready"


def test_the_environment_that_runs_this_is_not_pulled_away(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "docker" / "locks" / "orchestrator.txt").write_text(SIX)
    (root / ".venv").mkdir()
    monkeypatch.setattr(sys, "prefix", str(root / ".venv"))
    with pytest.raises(UserError, match="make setup"):
        environments.ensure("orchestrator")
    assert (root / ".venv").exists()


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), OSError(28, "No space left on device"), UserError("no network")])
def test_whatever_stops_an_installation_leaves_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, stop: BaseException
) -> None:
    real = environments.run

    def run(command: list[str], failure: str) -> str:
        if "sync" in command:
            raise stop
        return real(command, failure)

    monkeypatch.setattr(environments, "run", run)
    with pytest.raises(KeyboardInterrupt if isinstance(stop, KeyboardInterrupt) else UserError) as ended:
        environments.ensure("six")
    assert environments.status("six", "cpu") == "missing"
    if isinstance(stop, OSError):
        assert "The disk is full" in str(ended.value)


def test_two_processes_make_an_environment_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def make(wanted: environments.Environment, folder: Path, source: list[str], *, again: bool) -> None:
        made.append(wanted.name)
        time.sleep(0.2)
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").symlink_to(sys.executable)
        (folder / environments.MARKER).write_text(wanted.lock_sha256)

    monkeypatch.setattr(environments, "make", make)
    threads = [threading.Thread(target=environments.ensure, args=("six",)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["six"]


def test_another_python_is_refused_with_the_way_to_name_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(environments, "PYTHON_VERSION", (3, 10))
    with pytest.raises(UserError, match=r"needs Python 3\.10.*make setup PYTHON="):
        environments.ensure("six")


def test_without_uv_pip_gets_the_locked_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copy(LOCKS_FOLDER / "orchestrator.txt", root / "docker" / "locks")
    monkeypatch.setenv("PATH", "/usr/bin:/bin" if not Path("/usr/bin/uv").exists() else "/nowhere")
    uv = environments.find_uv(root / ".venv")
    assert Path(uv) == root / ".environments" / "uv" / "bin" / "uv"
    assert environments.runs(uv)
    locked = environments.pinned("uv", environments.lock_path("orchestrator", "cpu"))
    assert locked.startswith(f"uv=={environments.run([uv, '--version'], '').split()[1]} ")
    assert locked.count("--hash=sha256:") > 5
    assert "\nuv" not in locked.strip()


def test_a_new_lock_that_names_an_address_is_refused(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = environments.lock_path("six", "cpu")
    lock.with_suffix(".in").write_text("six\n")
    for text in ("--index-url somewhere\n" + SIX, "six @ file://here/six.whl\n"):
        monkeypatch.setattr(environments, "run", lambda *_, text=text: text)
        with pytest.raises(UserError, match="names an address or an index"):
            locks.compile_lock("six")
        assert lock.read_text() == SIX


@pytest.mark.parametrize(
    ("name", "target", "platform"),
    [("six", "cpu", "2_28"), ("six", "cuda", "2_28"), ("six", "tpu", "2_31"), ("orchestrator", "tpu", "2_28")],
)
def test_a_lock_is_for_the_oldest_system_that_its_target_runs_on(
    root: Path, monkeypatch: pytest.MonkeyPatch, name: str, target: str, platform: str
) -> None:
    lock = environments.lock_path(name, target)
    lock.parent.mkdir(exist_ok=True)
    lock.with_suffix(".in").write_text("six\n")
    commands = []
    monkeypatch.setattr(environments, "run", lambda command, failure: commands.append(command) or SIX)
    assert locks.compile_lock(name, target) == lock
    assert lock.read_text() == SIX
    (command,) = commands
    assert command[command.index("--python-platform") + 1] == f"x86_64-manylinux_{platform}"


def test_a_list_of_overrides_is_given_to_the_resolver(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = environments.lock_path("six", "cpu")
    lock.with_suffix(".in").write_text("six\n")
    commands = []
    monkeypatch.setattr(environments, "run", lambda command, failure: commands.append(command) or SIX)
    locks.compile_lock("six")
    lock.with_suffix(".override").write_text('other ; python_version < "3"\n')
    locks.compile_lock("six")
    without, given = commands
    assert "--override" not in without
    assert given[given.index("--override") + 1] == str(lock.with_suffix(".override"))


def test_pruning_keeps_the_current_lock_only(root: Path) -> None:
    old = environments.place("six", "cpu")
    old.mkdir(parents=True)
    environments.lock_path("six", "cpu").write_text(SIX + "# another day\n")
    (root / "docker" / "locks" / "cpu" / "six.in").touch()
    new = environments.place("six", "cpu")
    new.mkdir(parents=True)
    assert environments.prune() == [old]
    assert new.exists()


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_lock_has_hashes_and_no_address(lock: Path) -> None:
    text = lock.read_text()
    assert not re.search(r"https?:|^-", text, re.MULTILINE)
    packages = re.findall(r"^[a-z0-9][^ =]*==\S+", text, re.MULTILINE)
    entries = re.split(r"^(?=[a-z0-9])", text, flags=re.MULTILINE)[1:]
    assert packages
    assert all("--hash=sha256:" in entry for entry in entries)


def test_every_lock_has_the_same_numpy() -> None:
    pins = {re.search(r"^numpy==(\S+)", lock.read_text(), re.MULTILINE)[1] for lock in LOCKS}  # type: ignore[index]
    assert len(pins) == 1


def test_the_torch_wheels_come_from_where_the_user_says(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", "/p")
    monkeypatch.delenv("UV_FIND_LINKS", raising=False)
    assert environments.wheel_source("torch", "cpu") == ["--find-links", "/p"]
    monkeypatch.setenv("UV_FIND_LINKS", "/u")
    assert environments.wheel_source("torch", "cpu") == ["--find-links", "/u"]
    monkeypatch.delenv("UV_FIND_LINKS")
    monkeypatch.delenv("PIP_FIND_LINKS")
    assert environments.TORCH_CPU_INDEX in environments.wheel_source("torch", "cpu")
    plain = [("torch_xla", "cpu"), ("torch", "cuda"), ("torchax", "cuda"), ("torch_xla", "tpu")]
    assert all(environments.wheel_source(name, target) == [] for name, target in plain)


def test_other_platforms_are_refused_with_one_line() -> None:
    assert doctor.platform_problem("Linux", "x86_64") is None
    said = doctor.platform_problem("Darwin", "arm64")
    assert said is not None
    assert "Linux on x86-64" in said
    assert "\n" not in said
