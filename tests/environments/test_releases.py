"""Releases between two, asked of an index one by one."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.environments import locks, releases, uv
from suite.errors import UserError

UNREACHABLE = "error: Request failed after 3 retries\n  cause: Failed to fetch: https://packages.example/jax/"
UNKNOWN = "error: No solution found\n  cause: Because jax was not found in the package registry and you require jax"
NO_SUCH = "error: No solution found when resolving dependencies\n  cause: Because there is no version of jax==0.9"
THERE = ["0.10.2", "0.11.0", "0.11.1", "0.12.0", "0.12.0.1"]

asked = releases.newest  # the real one


@pytest.fixture(autouse=True)
def index(monkeypatch: pytest.MonkeyPatch) -> None:
    """One that has these."""

    def newest(requirement: str, python: str, target: str) -> str:
        wanted = requirement.removeprefix("jax")
        if wanted.startswith("=="):
            found = [each for each in THERE if each == wanted[2:]]
        else:
            low, high = (THERE.index(word.strip("<>=")) for word in wanted.split(","))
            found = THERE[low:high]
        if not found:
            raise uv.NoSolution(f"No release is {requirement} for Python {python}.")
        return found[-1]

    monkeypatch.setattr(releases, "newest", newest)


def test_both_ends_and_all_between_are_there() -> None:
    assert releases.between("jax", "0.11.0", "0.12.0.1", "3.13", "cpu") == THERE[1:]


def test_what_can_not_be_searched_is_told() -> None:
    with pytest.raises(UserError, match=r"0\.10\.2 doesn't come after 0\.12\.0"):
        releases.between("jax", "0.12.0", "0.10.2", "3.13", "cpu")
    with pytest.raises(UserError, match=r"No release is jax==0\.9 for Python 3\.13"):
        releases.between("jax", "0.10.2", "0.9", "3.13", "cpu")


@pytest.mark.parametrize("message", [UNREACHABLE, UNKNOWN])
def test_a_failure_of_uv_is_not_taken_for_an_order_of_releases(
    message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    there = releases.newest

    def newest(requirement: str, python: str, target: str) -> str:
        return there(requirement, python, target) if "==" in requirement else asked(requirement, python, target)

    monkeypatch.setattr(uv, "find_uv", lambda *_: program(tmp_path, message))
    monkeypatch.setattr(releases, "newest", newest)
    with pytest.raises(UserError) as refused:
        releases.between("jax", "0.11.0", "0.12.0", "3.13", "cpu")
    assert message in str(refused.value) and "come after" not in str(refused.value)
    assert str(refused.value).startswith("uv gives no release that is jax>=0.11.0,<0.12.0 for Python 3.13.")


def test_uv_that_finds_no_release_is_told_from_uv_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(uv, "find_uv", lambda *_: program(tmp_path, NO_SUCH))
    with pytest.raises(uv.NoSolution, match=r"there is no version of jax==0\.9"):
        asked("jax==0.9", "3.13", "cpu")


def test_the_index_says_once_when_a_release_came_out(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert releases.dated("six", "1.17.0") == "1.17.0"
    lock = locks.newest("six", "cpu")
    assert releases.add_days([lock], ["six"]) == ["six 1.17.0: 2024-12-04"]
    assert releases.dated("six", "1.17.0") == "1.17.0 of 2024-12-04"
    monkeypatch.setattr(uv, "resolve", None)  # calling it would fail
    assert releases.add_days([lock], ["six"]) == []


def test_a_day_is_its_first_file_s_and_none_without_any(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    wheels = "{ upload-time = 2026-10-29T01:00:00Z }, { upload-time = 2026-10-28T23:00:00Z }, {}"
    monkeypatch.setattr(uv, "resolve", lambda *_: f"[[packages]]\nwheels = [{wheels}]")
    assert releases.uploaded("torch", "2.15.0", "3.13", "cpu") == "2026-10-28"
    monkeypatch.setattr(uv, "resolve", lambda *_: "[[packages]]\nwheels = [{}]")
    assert releases.uploaded("torch", "2.15.0", "3.13", "cpu") is None
    assert releases.add_days([locks.newest("six", "cpu")], ["six"]) == []


def test_a_build_has_its_release_s_day_however_the_package_is_spelled(
    root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock = locks.newest("six", "cpu")
    lock.path.write_text("# Python 3.11\ntorch-xla==2.9.0+cpu \\\ntorch-xla2==1.0 \\\n")
    assert [*releases.undated([lock], ["torch_xla"])] == [("torch-xla", "2.9.0")]
    monkeypatch.setattr(releases, "uploaded", lambda package, version, *_: {"2.9.0": "2025-11-17"}[version])
    releases.add_days([lock], ["torch_xla"])
    assert releases.dated("torch_xla", "2.9.0+cpu") == "2.9.0+cpu of 2025-11-17"
    assert releases.dated("torch_xla", "2.9.1") == "2.9.1"


def test_what_the_table_had_stays_newest_first(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(releases, "uploaded", lambda *_: "2026-01-01")
    lock = locks.newest("six", "cpu")
    for version in ("1.9", "1.17.0", "1.10"):
        lock.path.write_text(f"six=={version} \\\n")
        releases.add_days([lock], ["six"])
    assert [*releases.days(releases.table())["six"]] == ["1.17.0", "1.10", "1.9"]


def program(folder: Path, message: str) -> str:
    """A program that fails with uv's message."""
    (folder / "message").write_text(message)
    path = folder / "uv"
    path.write_text(f"#!/bin/sh\ncat {folder}/message >&2\nexit 1\n")
    path.chmod(0o755)
    return str(path)
