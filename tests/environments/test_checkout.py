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


@pytest.mark.parametrize(
    ("text", "commit", "address"),
    [
        ("1234abc\nhttps://me:word@example.org/stack-wars.git\n", "1234abc", "https://example.org/stack-wars"),
        ("1234abc\nfile:///home/me/stack-wars\n", "1234abc", ""),
        ("", "", ""),
    ],
)
def test_an_unpacked_wheel_knows_where_it_came_from(
    text: str, commit: str, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checkout, "UNPACKED", tmp_path / "REVISION")
    (tmp_path / "REVISION").write_text(text)
    assert (checkout.revision(), checkout.project_address()) == (commit, address)
