"""Locked environments: reused by lock hash, never half-made, refused with a wrong hash; locks without addresses."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from suite import doctor, environments
from suite.errors import UserError

LOCKS = sorted((environments.ROOT / "docker" / "locks").rglob("*.txt"))
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


def test_pruning_keeps_the_current_lock_only(root: Path) -> None:
    old = environments.place("six", "cpu")
    old.mkdir(parents=True)
    environments.lock_path("six", "cpu").write_text(SIX + "# another day\n")
    (root / "docker" / "locks" / "cpu" / "six.in").touch()
    new = environments.place("six", "cpu")
    new.mkdir(parents=True)
    assert environments.prune() == [old]
    assert new.exists()


@pytest.mark.parametrize("lock", LOCKS, ids=lambda path: path.stem)
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
    assert environments.wheel_source("torch_xla", "cpu") == []


def test_other_platforms_are_refused_with_one_line() -> None:
    assert doctor.platform_problem("Linux", "x86_64") is None
    said = doctor.platform_problem("Darwin", "arm64")
    assert said is not None
    assert "Linux on x86-64" in said
    assert "\n" not in said
