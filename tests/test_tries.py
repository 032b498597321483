"""A test that fails beside others has one more try, and one that always fails has failed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests import tries

ONCE = """
from pathlib import Path
def test_once():
    tried = Path("tried")
    before, _ = tried.exists(), tried.touch()
    assert before
"""


@pytest.mark.parametrize(
    ("code", "words", "ended"),
    [
        (ONCE, (), 0),
        (f"{ONCE}def test_never(): assert 0", (), 1),
        (ONCE, ("-k", "nothing"), 5),
        ("def test_good(): pass", (), 0),
        ("import nothing_at_all", (), 2),
    ],
    ids=["once", "never", "none", "good", "unreadable"],
)
def test_what_failed_is_tried_once_more(
    code: str, words: tuple[str, ...], ended: int, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "test_it.py").write_text(code, encoding="utf-8")
    assert tries.pytest("-q", *words, folder=tmp_path, environ=os.environ) == ended
    assert ("once more" in capfd.readouterr().out) is (code.startswith(ONCE) and not words)
