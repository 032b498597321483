"""`submit` as typed: what is told, what a person can paste, and the exit codes."""

from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from suite.extras.submit import change
from suite.extras.submit.command import ADDRESS
from tests.strangers import commit, git, repository
from tests.typed import answered, parsed

OWN = Path(__file__).parents[3] / "sets"
(ARGSORT,) = OWN.glob("2026-11-28.cpu.ce22462e*")


@pytest.fixture(autouse=True)
def history(monkeypatch: pytest.MonkeyPatch) -> None:
    """This checkout needn't have its history."""
    monkeypatch.setattr(change, "has_commit", lambda commit: True)


def test_a_set_goes_into_an_archive_by_what_is_told(tmp_path: Path) -> None:
    clone = repository(tmp_path / "archive")
    git(clone, "config", "user.name", "a stranger")
    git(clone, "config", "user.email", "stranger@localhost")
    made = answered("submit", str(ARGSORT), f"--to={clone}", cwd=tmp_path)
    assert made.returncode == 0, made.stderr
    push, opened = made.stdout.splitlines()
    branch = f"set/{ARGSORT.name}"
    assert branch in opened and git(clone, "branch", "--list", branch)
    git(tmp_path, "init", "-q", "--bare", "forge.git")
    git(clone, "remote", "add", "origin", str(tmp_path / "forge.git"))
    subprocess.run(shlex.split(push), check=True, capture_output=True)
    git(clone, "checkout", "-q", branch)
    checked = answered("submit", "--check=main", cwd=clone)
    assert (checked.returncode, checked.stdout) == (0, f"{ARGSORT.name} can enter the archive.\n"), checked.stderr
    commit(clone, "more", sets__notes="pass")
    again = answered("submit", "--check=main", f"--to={clone}", cwd=tmp_path)
    assert again.returncode == 3 and "sets/notes.py isn't a plain file of a set" in again.stdout


@pytest.mark.parametrize("has_gh", [True, False])
def test_without_a_clone_the_commands_are_told(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, has_gh: bool
) -> None:
    from suite.extras.submit import command as submit

    monkeypatch.setattr(submit.shutil, "which", lambda name: name if has_gh else None)
    monkeypatch.setattr(submit, "project_address", lambda: "")
    assert submit.submit(str(ARGSORT)) == 0
    cloned, again, push, opened = capsys.readouterr().out.splitlines()
    assert shlex.split(cloned)[0] == ("gh" if has_gh else "git") and ADDRESS in cloned
    assert parsed(shlex.split(again)[1:])[1] == {"set": str(ARGSORT), "to": "ARCHIVE"}
    assert shlex.split(push)[:3] == ["git", "-C", "ARCHIVE"] and ("gh pr create" in opened) == has_gh


def test_a_mistake_is_told_and_no_traceback(tmp_path: Path) -> None:
    clone = repository(tmp_path / "archive")
    for words, refusal in (
        (["nowhere"], "no result set"),
        ([str(ARGSORT), "--to=nowhere"], "git status failed"),
        (["--check=nowhere", f"--to={clone}"], "git merge-base failed"),
    ):
        done = answered("submit", *words, cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "") and refusal in done.stderr, done.stderr
