"""A project with one tiny environment."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite import environments
from tests.environments.six_lock import SIX


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one tiny environment, `six`."""
    (tmp_path / "docker" / "locks" / "cpu").mkdir(parents=True)
    (tmp_path / "docker" / "locks" / "cpu" / "six.txt").write_text(SIX)
    monkeypatch.setattr(environments, "ROOT", tmp_path)
    return tmp_path
