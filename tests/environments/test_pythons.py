"""The Python of a lock: found, got, or told how to get."""

from __future__ import annotations

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


def test_every_lock_says_the_python_of_its_list() -> None:
    for target in ("cpu", "cuda", "tpu", "test", "cluster"):
        for name in (*locks.names(target), *locks.variants(target)):
            if locks.owner(name, target) == name:
                lock, source = locks.lock_path(name, target), locks.requirements_path(name, target)
                first = lock.read_text().splitlines()[0]
                assert first == f"# Python {locks.python_said(source.read_text())}", f"{lock} (from {source})"
                assert source.read_text().startswith("# Python 3."), source


def test_the_python_that_runs_this_is_found_first() -> None:
    assert pythons.running() == "3.11"
    assert Path(pythons.find("3.11") or "").exists()
    assert pythons.get("3.11") == pythons.find("3.11")


def test_a_python_that_is_nowhere_is_asked_of_uv_once(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def run(command: list[str], failure: str) -> str:
        asked.append(" ".join(command[1:3]))
        raise UserError("error: Failed to install\n  cause: Failed to download\n  cause: no network\nCheck the network")

    monkeypatch.setattr(uv, "present", lambda *_: "uv")
    monkeypatch.setattr(uv, "find_uv", lambda *_: "uv")
    monkeypatch.setattr(uv, "run", run)
    locks.lock_path("six", "cpu").write_text("# Python 3.99\n" + SIX)
    for _ in range(3):
        assert pythons.find("3.99") is None
    assert asked == ["python find"], "once for all cases"
    assert (pythons.lacking("six", "cpu") or "").startswith(
        "Python 3.99, which the lock of environment six is for, isn't on this machine; `./stackwars "
        "doctor`")  # fmt: skip
    (refused,) = venv.get_pythons(["six"], "cpu")
    assert asked == ["python find", "python install"]
    assert "could not be got: no network.\n" in refused and "`python3.99` on PATH" in refused
    with pytest.raises(UserError, match=r"Python 3\.99 could not be got"):
        venv.ensure("six")
    assert not venv.place("six", "cpu").exists()
