"""`stackwars.ask` in a notebook: the command's options, its tables and its rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.cli.values import typed
from suite.errors import UserError


def test_options_are_the_command_s() -> None:
    assert typed("stack", ["torch_*", "jax_jit"]) == ["--stack=torch_*", "--stack=jax_jit"]
    assert typed("limit_memory", "6GiB") == ["--limit-memory=6GiB"]
    assert typed("check", value=True) == ["--check"] and typed("check", value=False) == []


def test_a_mistake_is_raised_in_the_command_s_words(tmp_path: Path) -> None:
    import stackwars

    with pytest.raises(UserError, match="There is no file"):
        stackwars.ask(tmp_path / "nowhere.py")
