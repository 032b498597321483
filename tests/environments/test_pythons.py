"""The Python of a lock: found, got, or told how to get."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite.environments import locks, pythons, uv, venv
from suite.errors import UserError
from tests.environments.six_lock import SIX


@pytest.fixture(autouse=True)
def anew() -> Iterator[None]:
    """What one test has found isn't there in the next."""
    pythons.find.cache_clear()
    yield
    pythons.find.cache_clear()


def test_a_python_that_uv_installs_is_said_once_it_is_there(
    home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    bin_folder = home / ".local" / "share" / "uv" / "python" / "cpython-3.99.1-linux-x86_64-gnu" / "bin"
    commands: list[list[str]] = []

    def run(command: list[str], failure: str) -> str:
        commands.append(command)
        interpreter(bin_folder, "3.99")
        return ""

    monkeypatch.setattr(uv, "find_uv", lambda *_: "uv")
    monkeypatch.setattr(uv, "run", run)
    assert pythons.get("3.99") == str(bin_folder / "python3.99")
    assert commands == [["uv", "python", "install", "3.99"]]
    assert capsys.readouterr().err == "Python 3.99 isn't on this machine: uv tries to install it ... done\n"


def test_every_lock_says_the_python_of_its_list() -> None:
    for target in ("cpu", "cuda", "tpu", "test", "cluster"):
        for name in (*locks.names(target), *locks.variants(target)):
            if locks.owner(name, target) == name:
                for lock in locks.all_locks(name, target):
                    source = lock.source
                    assert source.read_text().startswith("# Python 3."), source
                    (python,) = lock.pythons
                    assert python in locks.pythons_named(source.read_text()), f"{lock} (from {source})"
                    named = locks.FALLBACK.search(lock.path.stem)
                    assert named is None or named[1] == python, f"{lock} is for Python {python}"


def test_every_environment_of_the_cpu_has_a_lock_for_each_python_of_the_orchestrator() -> None:
    wanted = locks.pythons_named(locks.newest(locks.ORCHESTRATOR, "cpu").text)
    for name in locks.names("cpu"):
        assert sorted(lock.python for lock in locks.all_locks(name, "cpu")) == sorted(wanted), name


def test_the_python_that_runs_this_is_found_first() -> None:
    running = pythons.running()
    assert running in locks.pythons_named(locks.newest(locks.ORCHESTRATOR, "cpu").text)
    assert pythons.find(running) == sys.executable == pythons.get(running)


def test_a_python_that_is_nowhere_is_asked_of_uv_once(
    root: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked = []

    def run(command: list[str], failure: str) -> str:
        asked.append(" ".join(command[1:3]))
        raise UserError("error: Failed to install\n  cause: Failed to download\n  cause: no network\nCheck the network")

    monkeypatch.setattr(uv, "find_uv", lambda *_: "uv")
    monkeypatch.setattr(uv, "run", run)
    locks.newest("six", "cpu").path.write_text("# Python 3.99\n" + SIX)
    assert pythons.find("3.99") is None
    assert (pythons.lacking("six", "cpu") or "").startswith(
        "environment six needs Python 3.99, which isn't on this machine; `./stackwars doctor`"
    )
    (refused,) = venv.get_pythons(["six"], "cpu")
    assert asked == ["python install"]
    assert (
        capsys.readouterr().err
        == "Python 3.99 isn't on this machine: uv tries to install it ... it can't: no network\n"
    )
    assert "could not be installed: no network.\n" in refused and "`python3.99` on PATH" in refused
    with pytest.raises(UserError, match=r"Python 3\.99 could not be installed"):
        venv.ensure("six")
    assert not venv.place(locks.newest("six", "cpu")).exists()


def interpreter(folder: Path, version: str, *, runs: bool = True) -> Path:
    """A Python of a version manager's: a real one under another name, or a stand-in that doesn't run."""
    folder.mkdir(parents=True)
    program = folder / f"python{version}"
    if runs:
        program.symlink_to(sys.executable)
    else:
        program.write_text("#!/bin/sh\nexit 127\n")
        program.chmod(0o755)
    return program


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty home folder, and no version manager's variables."""
    named = ("PYENV_ROOT", "ASDF_DATA_DIR", "MISE_DATA_DIR", "CONDA_PREFIX", "UV_PYTHON_INSTALL_DIR", "XDG_DATA_HOME")
    for name in named:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def test_version_managers_folders_are_searched_behind_path_the_newest_first(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    pyenv = [home / ".pyenv" / "versions" / version / "bin" for version in ("3.13.2", "3.13.10", "3.9.18")]
    mise = home / ".local" / "share" / "mise" / "installs" / "python" / "3.12.1" / "bin"
    uvs = home / ".local" / "share" / "uv" / "python"
    uvs_own, free_threaded = (uvs / f"cpython-3.12.9{kind}-linux-x86_64-gnu" / "bin" for kind in ("", "+freethreaded"))
    for folder in (*pyenv, mise, uvs_own, free_threaded):
        folder.mkdir(parents=True)
    found = [folder for folder in pythons.folders() if folder.startswith(str(home))]
    assert found == [str(folder) for folder in (pyenv[1], pyenv[0], uvs_own, mise, pyenv[2])]
    assert pythons.folders()[:2] == ["/usr/bin", "/bin"]
    monkeypatch.setenv("PYENV_ROOT", str(home.parent / "elsewhere"))
    (home.parent / "elsewhere" / "versions" / "3.13.11" / "bin").mkdir(parents=True)
    assert str(home.parent / "elsewhere" / "versions" / "3.13.11" / "bin") in pythons.folders()


def test_the_first_python_that_starts_is_taken(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shims = interpreter(home / ".pyenv" / "shims", "3.98", runs=False).parent
    interpreter(home / ".pyenv" / "versions" / "3.98.0" / "bin", "3.98", runs=False)
    program = interpreter(home / ".asdf" / "installs" / "python" / "3.97.2" / "bin", "3.97")
    monkeypatch.setenv("PATH", str(shims))
    assert (pythons.find("3.98"), pythons.find("3.97")) == (None, str(program))
    assert pythons.folders()[-1] == str(shims), "those that take long to start no Python come last"


JAX = "# Python 3.99\nsix==1.17.0 \\\n    --hash=sha256:00\n"


@pytest.fixture
def two_locks(root: Path) -> Path:
    """Environment six, whose newest lock is for a Python that nobody has, and whose older one is for this one."""
    folder = root / "docker" / "locks" / "cpu"
    (folder / "six.in").write_text("# Python 3.99\nsix\n")
    (folder / "six-py3.11.in").write_text("# Python 3.11\nsix<1.17\n")
    (folder / "six.txt").write_text(JAX)
    (folder / "six-py3.11.txt").write_text(f"# Python {pythons.running()}\n{SIX.replace('1.17.0', '1.16.0')}")
    return folder


def test_the_newest_lock_whose_python_is_here_is_chosen_and_said(two_locks: Path) -> None:
    newest = locks.Locks("cpu")
    fitting = venv.fitting(["six"], newest)
    assert (newest.of("six").path.name, fitting.of("six").path.name) == ("six.txt", "six-py3.11.txt")
    (sentence,) = venv.fallbacks(["six"], fitting)
    assert sentence == f"six: six 1.16.0 on Python {pythons.running()} in place of 1.17.0: no Python 3.99 here"
    assert fitting.of("six") == locks.all_locks("six", "cpu")[1]
    assert venv.fallbacks(["six"], newest) == []
    assert pythons.lacking("six", "cpu") is None


def test_an_environment_that_is_made_from_the_newest_lock_stays_with_it(two_locks: Path) -> None:
    folder = venv.place(locks.newest("six", "cpu"))
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    (folder / venv.MARKER).write_text(venv.seal(locks.newest("six", "cpu")))
    assert venv.fit("six", "cpu") == locks.newest("six", "cpu")
    assert venv.fallbacks(["six"], venv.fitting(["six"], locks.Locks("cpu"))) == []
    assert venv.status(locks.newest("six", "cpu")) == "ready"


def test_uv_is_asked_for_the_newest_python_unless_an_older_lock_is_installed(
    two_locks: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def get(version: str) -> str:
        asked.append(version)
        raise UserError(f"Python {version} could not be installed")

    monkeypatch.setattr(pythons, "get", get)
    assert venv.get_pythons(["six"], "cpu") == [], "it can be made from the older lock"
    assert asked == ["3.99"]
    older = locks.all_locks("six", "cpu")[1]
    folder = venv.place(older)
    (folder / "bin").mkdir(parents=True)
    (folder / "bin" / "python").symlink_to(sys.executable)
    (folder / venv.MARKER).write_text(venv.seal(older))
    assert venv.get_pythons(["six"], "cpu") == [] and asked == ["3.99"], "a run asks nobody for what it can do without"
    assert venv.get_pythons(["six"], "cpu", again=True) == [] and asked == ["3.99", "3.99"]
    (two_locks / "six-py3.11.txt").unlink()
    (refused,) = venv.get_pythons(["six"], "cpu", again=True)
    assert refused == "Python 3.99 could not be installed"
