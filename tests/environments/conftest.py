"""A project with one tiny environment."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

from suite import environments
from tests.environments.six_lock import HERE


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project with one tiny environment, `six`, and uv: the locked one, whatever this machine has.

    Else each test would get it by pip, where none is installed; that has a test of its own.
    """
    (tmp_path / "docker" / "locks" / "cpu").mkdir(parents=True)
    (tmp_path / "docker" / "locks" / "cpu" / "six.txt").write_text(HERE)
    monkeypatch.setattr(environments, "ROOT", tmp_path)
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    return tmp_path
