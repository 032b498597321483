"""What `--json` says of archives and of what is published there."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.extras.archive.publish import publish
from suite.extras.archive.storage import Storage
from tests.cli.test_json import NAME, home, told

__all__ = ["home"]  # a fixture


@pytest.fixture(scope="module", autouse=True)
def shelf(home: Path) -> None:
    """The whole set, published."""
    publish(home / "results" / NAME, Storage.of(str(home / "shelf")), lambda text: None)


def test_sets_in_an_archive(home: Path) -> None:
    whole, _ = told(home, "sets")["sets"]
    (archived,) = told(home, "sets", "--from=shelf")["sets"]
    assert archived["name"] == whole["name"] and archived["where"] == "shelf"


def test_a_verdict_on_a_set(home: Path) -> None:
    intact = {"intact": True, "problems": [], "signed": False, "signer": None}
    assert told(home, "verify", f"--set={NAME}")["sets"] == [{"set": f"results/{NAME}", "from": None} | intact]
    [found] = told(home, "verify", "--set=20260302", code=3)["sets"]
    assert not found["intact"] and "manifest.json is missing" in found["problems"][0]
    archived = told(home, "verify", "--set=2026", "--from=shelf")
    assert archived["sets"][0]["from"] == "shelf"
    assert told(home, "verify", "--from=shelf") == archived
