"""Environments are made two at once before a run, and each line says what is left."""

from __future__ import annotations

import re
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from suite.environments import locks, together, uv, venv
from suite.errors import UserError


@pytest.fixture
def three(root: Path, monkeypatch: pytest.MonkeyPatch) -> list[locks.Lock]:
    """Locks of three environments that are missing, of about 1 GB each. A uv is there."""
    monkeypatch.setattr(uv, "find_uv", lambda: "uv")
    six = locks.newest("six", "cpu")
    made = [replace(six, name=name, path=six.path.with_name(f"{name}.txt")) for name in ("six", "seven", "eight")]
    for lock in made[1:]:
        lock.path.write_text(six.text + f"# {lock.name}\n")
    return made


def test_two_are_made_at_once_and_what_is_left_is_said(
    three: list[locks.Lock], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    meet, made = threading.Barrier(2, timeout=60), []

    def make(lock: locks.Lock) -> None:
        if lock.name != "eight":
            meet.wait()  # for the other one: alone it would break
        made.append(lock.name)

    monkeypatch.setattr(venv, "made", make)
    together.make_all([*three, three[0]])
    assert sorted(made) == ["eight", "seven", "six"], "each once"
    said = capsys.readouterr().err.splitlines()
    assert "3 environments" in said[0] and "2.79 GiB" in said[0]
    assert [re.findall(r"[\d.]+ [GM]iB", line) for line in said[1:]] == [["1.86 GiB"], ["954 MiB"]]


def test_where_the_disk_is_small_one_is_made_after_the_other(
    three: list[locks.Lock], monkeypatch: pytest.MonkeyPatch
) -> None:
    alone = threading.Lock()

    def make(lock: locks.Lock) -> None:
        assert alone.acquire(blocking=False), "another one is being made"
        threading.Event().wait(0.05)
        alone.release()

    monkeypatch.setattr(venv, "made", make)
    monkeypatch.setattr(together.shutil, "disk_usage", lambda _: SimpleNamespace(free=10**9))
    together.make_all(three)


def test_one_that_cant_be_made_ends_the_command(three: list[locks.Lock], monkeypatch: pytest.MonkeyPatch) -> None:
    def make(lock: locks.Lock) -> None:
        if lock.name == "seven":
            raise UserError("seven: no network")

    monkeypatch.setattr(venv, "made", make)
    with pytest.raises(UserError, match="seven: no network"):
        together.make_all(three)


def test_nothing_is_said_where_all_are_ready(
    three: list[locks.Lock], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(venv, "status", lambda _: "ready")
    monkeypatch.setattr(venv, "made", None)  # calling it would fail
    together.make_all(three)
    assert capsys.readouterr().err == ""
