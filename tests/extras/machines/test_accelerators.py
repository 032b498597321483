"""Our own list of what a job may ask for."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.case import TARGETS
from suite.errors import UserError
from suite.extras.machines.accelerators import FILE, find, load


def test_every_target_has_one_and_its_first_is_the_default() -> None:
    assert {each.target for each in load().values()} == set(TARGETS)
    assert [find(None, target).name for target in TARGETS] == ["cpu", "H100:1", "tpu-v6e-1"]


@pytest.mark.parametrize(
    ("name", "target", "words"),
    [
        ("tpu-v6e1", "tpu", "There is no accelerator 'tpu-v6e1'. Did you mean 'tpu-v6e-1'?"),
        ("h100:1", "cuda", "Did you mean 'H100:1'?"),
        ("H1000:1", "cuda", "Did you mean 'H100:1'?"),
        ("H100:1", "tpu", "H100:1 belongs to another target: it needs --target=cuda"),
        (None, "gpu", "There is no target 'gpu'"),
    ],
)
def test_an_unknown_name_is_refused_with_the_nearest(name: str | None, target: str, words: str) -> None:
    with pytest.raises(UserError) as refused:
        find(name, target)
    assert words in str(refused.value)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('gres = ""', "", r"\[cpu\]: Object missing required field `gres`"),
        ('gres = ""', 'gres = ""\ngress = ""', "unknown field `gress`"),
        ('memory = "14Gi"', 'memory = "14"', "memory"),
        ("cores = 4", 'cores = "4"', "Expected `int`, got `str` - at `\\$.cores`"),
        ("cores = 4", "cores =", "can't be read"),
    ],
)
def test_a_broken_list_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    text = FILE.read_text(encoding="utf-8")
    assert old in text
    (tmp_path / "list.toml").write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(UserError, match=words):
        load(tmp_path / "list.toml")
