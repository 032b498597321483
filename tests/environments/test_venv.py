"""Locked environments: reused by lock hash, never half-made, refused with a wrong hash; locks without addresses."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from suite import environments
from suite.case import TARGETS
from suite.cli.project.environments import setup
from suite.environments import locks, pythons, uv, venv
from suite.errors import UserError
from suite.stacks.catalog import without_requested
from tests.environments.six_lock import HERE


def test_an_environment_is_made_once_with_byte_code(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONDONTWRITEBYTECODE", "1")
    made = venv.ensure("six")
    assert list(made.python.parents[1].glob("lib/*/site-packages/__pycache__/six.*.pyc"))
    monkeypatch.setattr(uv, "run", None)  # calling it would fail
    assert venv.ensure("six") == made


def test_a_half_made_environment_is_made_again(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = venv.place(locks.newest("six", "cpu"))
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").touch()
    assert venv.status(locks.newest("six", "cpu")) == "half-made"
    venv.ensure("six")
    assert "half-made" in capsys.readouterr().err
    assert venv.status(locks.newest("six", "cpu")) == "ready"


def test_a_large_lock_names_the_newest_variant_that_is_smaller(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    folder = root / "docker" / "locks" / "cpu"
    nvidia = "nvidia-cublas==13.4.1.3 \\\n"
    assert venv.smaller(locks.newest("six", "cpu")) is None
    (folder / "six.txt").write_text(HERE + nvidia)
    assert venv.smaller(locks.newest("six", "cpu")) is None
    for variant, text in {"1.9": HERE, "1.10": HERE, "1.11": HERE + nvidia}.items():
        (folder / f"six@{variant}.txt").write_text(text)
    assert "six@1.10" in str(venv.smaller(locks.newest("six", "cpu")))
    assert venv.smaller(locks.newest("six@1.11", "cpu")) is None, "it was asked for"
    (folder.parent / "cuda").mkdir()
    (folder.parent / "cuda" / "six.txt").write_text(HERE + nvidia)
    (folder.parent / "cuda" / "six@1.10.txt").write_text(HERE)
    assert venv.smaller(locks.newest("six", "cuda")) is None, "there they are used"
    with pytest.raises(UserError, match="nothing was kept"):
        venv.ensure("six")  # the line above has no hash
    assert "`--stack=STACK@1.10`" in capsys.readouterr().err


def test_a_wrong_hash_is_refused_and_nothing_stays(root: Path) -> None:
    lock = locks.newest("six", "cpu").path
    lock.write_text(HERE.replace("4721f391", "00000000"))
    with pytest.raises(UserError, match="six") as refused:
        venv.ensure("six")
    assert "hash" in str(refused.value).lower()
    assert str(lock) in str(refused.value)
    assert not venv.place(locks.newest("six", "cpu")).exists()


def test_an_unknown_environment_names_the_near_match(root: Path) -> None:
    with pytest.raises(UserError, match="Did you mean 'six'"):
        venv.ensure("sixx")


def test_an_environment_whose_python_is_gone_is_not_ready(root: Path) -> None:
    folder = venv.place(locks.newest("six", "cpu"))
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(root / "uninstalled")
    (folder / venv.MARKER).write_text(venv.seal(locks.newest("six", "cpu")))
    assert venv.status(locks.newest("six", "cpu")) == "half-made"
    (folder / "bin" / "python").unlink()
    (folder / "bin" / "python").symlink_to(sys.executable)
    assert venv.status(locks.newest("six", "cpu")) == "ready"
    locks.newest("six", "cpu").path.write_text(HERE + "# another day\n")
    assert venv.status(locks.newest("six", "cpu")) == "missing"  # of this lock; the other's folder stands until pruned


def fake_orchestrator(root: Path) -> Path:
    """A checkout's `.venv` that counts as whole."""
    (root / "docker" / "locks" / "orchestrator.txt").write_text(HERE)
    (root / "pyproject.toml").write_text(
        '[project]\nname = "x"\n\n[project.scripts]\ninvoke = "x:main"\n\n[tool]\na = 1\n'
    )
    (root / ".venv" / "bin").mkdir(parents=True)
    (root / ".venv" / "bin" / "python").symlink_to(sys.executable)
    (root / ".venv" / venv.MARKER).write_text(venv.seal(locks.newest("orchestrator", "cpu")))
    assert venv.status(locks.newest("orchestrator", "cpu")) == "ready"
    return root / ".venv"


def test_another_lock_makes_the_orchestrator_again_and_says_so(
    root: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    fake_orchestrator(root)
    (root / "docker" / "locks" / "orchestrator.txt").write_text(HERE + "# another day\n")
    (root / ".venv" / "left-over").touch()
    assert venv.status(locks.newest("orchestrator", "cpu")) == "half-made"
    real = uv.run
    monkeypatch.setattr(uv, "run", lambda c, f: "" if "--editable" in c else real(c, f))
    venv.ensure("orchestrator")
    assert "is removed and made again" in capsys.readouterr().err
    assert not (root / ".venv" / "left-over").exists()
    assert venv.status(locks.newest("orchestrator", "cpu")) == "ready"


@pytest.mark.parametrize("how", [shutil.copytree, shutil.move])
def test_a_checkout_at_another_place_makes_its_own_orchestrator(
    root: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, how: Callable[..., object]
) -> None:
    fake_orchestrator(root)
    stack = venv.ensure("six")
    other = tmp_path_factory.mktemp("other") / "checkout"
    how(root, other, **({"symlinks": True} if how is shutil.copytree else {}))
    monkeypatch.setattr(environments, "ROOT", other)
    assert venv.status(locks.newest("orchestrator", "cpu")) == "half-made"
    # A stack's own is as good as before: it is found where it is now, and finds its libraries there.
    assert venv.status(locks.newest("six", "cpu")) == "ready"
    python = str(venv.ensure("six").python)
    assert python != str(stack.python)
    said = subprocess.run([python, "-c", "import six; print(six.__file__)"], capture_output=True, text=True, check=True)
    assert said.stdout.startswith(str(other))


def test_an_orchestrator_with_other_commands_is_made_again(root: Path) -> None:
    fake_orchestrator(root)
    settings = root / "pyproject.toml"
    settings.write_text(settings.read_text().replace("a = 1", "a = 2"))
    assert venv.status(locks.newest("orchestrator", "cpu")) == "ready"
    settings.write_text(settings.read_text().replace("x:main", "x.cli:main"))
    assert venv.status(locks.newest("orchestrator", "cpu")) == "half-made"


def test_the_environment_that_runs_this_is_not_pulled_away(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (root / "docker" / "locks" / "orchestrator.txt").write_text(HERE)
    (root / ".venv").mkdir()
    monkeypatch.setattr(sys, "prefix", str(root / ".venv"))
    with pytest.raises(UserError, match="make setup"):
        venv.ensure("orchestrator")
    assert (root / ".venv").exists()


@pytest.mark.parametrize("stop", [KeyboardInterrupt(), OSError(28, "No space left on device"), UserError("no network")])
def test_whatever_stops_an_installation_leaves_nothing(
    root: Path, monkeypatch: pytest.MonkeyPatch, stop: BaseException
) -> None:
    real = uv.run

    def run(command: list[str], failure: str) -> str:
        if "sync" in command:
            raise stop
        return real(command, failure)

    monkeypatch.setattr(uv, "run", run)
    with pytest.raises(KeyboardInterrupt if isinstance(stop, KeyboardInterrupt) else UserError) as ended:
        venv.ensure("six")
    assert venv.status(locks.newest("six", "cpu")) == "missing"
    if isinstance(stop, OSError):
        assert "The disk is full" in str(ended.value)


def test_two_processes_make_an_environment_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = []

    def make(lock: locks.Lock, folder: Path) -> None:
        made.append(lock.name)
        time.sleep(0.2)
        (folder / "bin").mkdir(parents=True)
        (folder / "bin" / "python").symlink_to(sys.executable)
        (folder / venv.MARKER).write_text(venv.seal(lock))

    monkeypatch.setattr(venv, "make", make)
    threads = [threading.Thread(target=venv.ensure, args=("six",)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["six"]


def test_setting_up_a_target_makes_what_has_a_lock_there_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(venv, "made", lambda lock: made.append((lock.name, lock.target)))
    monkeypatch.setattr(venv, "status", lambda _: "missing")
    monkeypatch.setattr(venv, "get_pythons", lambda *_, **__: [])
    for target in TARGETS:
        setup(target=target)
    locked = {
        (path.stem, path.parent.name)
        for path in (environments.ROOT / "docker" / "locks").glob("*/*.txt")
        if "@" not in path.stem and not locks.FALLBACK.search(path.stem)
    }
    wanted = {*without_requested([name for name, _ in locked])}
    assert set(made) == {(name, target) for name, target in locked if target in TARGETS and name in wanted}
    assert ("iree", "cpu") in locked and ("iree", "cpu") not in made, "its stack runs only where it is named"
    assert ("numpy", "cpu") in made
    assert ("numpy", "cuda") not in made, "NumPy has nothing to do on an accelerator"
    with pytest.raises(UserError, match="Did you mean 'cuda'"):
        setup(target="cudda")


def test_environments_whose_python_can_not_be_had_are_left_out_and_told(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(venv, "made", lambda lock: made.append(lock.name))
    monkeypatch.setattr(venv, "status", lambda _: "missing")
    monkeypatch.setattr(venv, "get_pythons", lambda *_, **__: ["Python 3.13 could not be installed: no network."])
    monkeypatch.setattr(pythons, "lacking", lambda name, target: "no" if name in ("jax", "torchax") else None)
    with pytest.raises(UserError, match=r"no network\.\nEnvironments that couldn't be made: jax, torchax\."):
        setup()
    assert "torch" in made and "jax" not in made


def test_another_python_is_refused_with_the_way_to_name_one(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    locks.newest(locks.ORCHESTRATOR, "cpu").path.write_text("# Python 3.9, 3.10\n")
    with pytest.raises(UserError, match=r"needs Python 3\.9 or 3\.10.*make setup PYTHON="):
        venv.ensure(locks.ORCHESTRATOR)


def test_pruning_keeps_the_current_lock_only(root: Path) -> None:
    old = venv.place(locks.newest("six", "cpu"))
    old.mkdir(parents=True)
    locks.newest("six", "cpu").path.write_text(HERE + "# another day\n")
    (root / "docker" / "locks" / "cpu" / "six.in").touch()
    new = venv.place(locks.newest("six", "cpu"))
    new.mkdir(parents=True)
    assert venv.prune() == [old]
    assert new.exists()


@pytest.fixture
def theirs(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A checkout that everybody can read, and `.environments` with one that nobody may, seen by who isn't root."""
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        root = Path(folder)
        (root / "docker" / "locks" / "cpu").mkdir(parents=True)
        (root / "docker" / "locks" / "cpu" / "six.txt").write_text(HERE)
        monkeypatch.setattr(environments, "ROOT", root)
        made = venv.place(locks.newest("six", "cpu"))
        made.mkdir(parents=True)
        (made / venv.MARKER).touch()
        made.chmod(0)
        root.chmod(0o555)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)
        yield made
        os.seteuid(user)
        root.chmod(0o755)
        made.chmod(0o755)


def test_an_environment_of_another_user_has_a_way_out(theirs: Path) -> None:
    assert venv.status(locks.newest("six", "cpu")) == "unreadable"
    with pytest.raises(UserError, match=rf"{theirs} or its Python, .* is another user's.*git clone"):
        venv.ensure("six")


def test_a_python_that_another_user_keeps_to_himself_is_named(theirs: Path) -> None:
    home, user = theirs.parents[2] / "home", os.geteuid()
    os.seteuid(os.getuid())
    for folder in (theirs.parents[2], theirs):
        folder.chmod(0o755)
    home.mkdir()
    (theirs / venv.MARKER).write_text(venv.seal(locks.newest("six", "cpu")))
    (theirs / "bin").mkdir()
    (theirs / "bin" / "python").symlink_to(home / "python3")
    home.chmod(0)
    os.seteuid(user)
    with pytest.raises(UserError, match=rf"or its Python, {home}/python3, is another user's"):
        venv.ensure("six")
    os.seteuid(os.getuid())
    home.chmod(0o755)


def test_a_folder_that_cant_be_written_is_named(theirs: Path) -> None:
    with pytest.raises(UserError, match=r"\.environments/locks: Permission denied.*git clone") as refused:
        venv.made(replace(locks.newest("six", "cpu"), name="seven"))
    assert "network" not in str(refused.value)


@pytest.mark.parametrize(
    "text",
    [
        "#!/x/.venv/bin/python\nimport sys\n",
        "#!/bin/sh\n'''exec' '/a b/.venv/bin/python' \"$0\" \"$@\"\n' '''\nimport sys\n",
    ],
)
def test_commands_start_their_python_isolated(text: str, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    script = tmp_path / "bin" / "stackwars"
    script.write_text(text)
    venv.isolate(tmp_path)
    isolated = text.replace("/bin/python'", "/bin/python' -Es").replace("/bin/python\n", "/bin/python -Es\n")
    assert script.read_text() == isolated != text
