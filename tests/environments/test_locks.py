"""Every lock that is in the repository."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from suite.environments import ROOT

LOCKS = sorted((ROOT / "docker" / "locks").rglob("*.txt"))


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
