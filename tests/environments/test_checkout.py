"""What git says of a checkout, and nothing where there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.environments import checkout


def test_a_checkout_has_a_revision() -> None:
    assert len(checkout.git("rev-parse", "HEAD").strip()) == 40


def test_an_unpacked_archive_has_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checkout, "ROOT", tmp_path)
    assert checkout.git("rev-parse", "HEAD") == ""
    monkeypatch.setenv("PATH", str(tmp_path))
    assert checkout.git("rev-parse", "HEAD") == ""
