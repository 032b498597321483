"""Releases between two, asked of an index one by one."""

from __future__ import annotations

import pytest

from suite.environments import releases
from suite.errors import UserError

THERE = ["0.10.2", "0.11.0", "0.11.1", "0.12.0", "0.12.0.1"]


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
            raise UserError(f"No release is {requirement} for Python {python}.")
        return found[-1]

    monkeypatch.setattr(releases, "newest", newest)


def test_both_ends_and_all_between_are_there() -> None:
    assert releases.between("jax", "0.11.0", "0.12.0.1", "3.13", "cpu") == THERE[1:]


def test_what_can_not_be_searched_is_told() -> None:
    with pytest.raises(UserError, match=r"0\.10\.2 doesn't come after 0\.12\.0"):
        releases.between("jax", "0.12.0", "0.10.2", "3.13", "cpu")
    with pytest.raises(UserError, match=r"No release is jax==0\.9 for Python 3\.13"):
        releases.between("jax", "0.10.2", "0.9", "3.13", "cpu")
