"""Presets: those that come with the suite are whole, and a mistake in one is named with its file and key."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from suite.case import Purpose
from suite.errors import UserError
from suite.plan import preset
from suite.plan.planning import choose_stacks
from suite.stacks.catalog import STACKS
from suite.workloads.catalog import find


@pytest.mark.parametrize("name", preset.names())
def test_every_preset_asks_for_what_exists(name: str) -> None:
    chosen, workloads = preset.load(name), find()
    assert chosen.title != name
    for question in chosen.questions:
        probing = chosen.purpose is Purpose.PROBE
        named = [w for w in workloads.values() if fnmatchcase(w.name, question.workload) and w.is_probe == probing]
        assert named
        for workload in named:
            assert question.pass_ in workload.spec.PASSES
            assert (question.size or chosen.size) in workload.sizes


def test_the_published_sizes_are_called_full() -> None:
    assert {"quick", "ops", "full", "tiny"} <= set(preset.names())
    assert preset.load("ops").size == preset.load("full").size == "full"


def test_keras_is_asked_where_a_preset_or_an_option_names_it() -> None:
    for name in ("quick", "ops", "primer", "behaviour", "full", "large", "oom", "why", "versions"):
        stacks = choose_stacks(preset.load(name).stacks, "cpu")
        assert not [stack for stack in stacks if STACKS[stack.partition("@")[0]].native], name
    assert len(choose_stacks(preset.load("quick").stacks, "cpu")) == 10
    assert "keras_jax" in choose_stacks(preset.load("tiny").stacks, "cpu")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("size = ", "isn't valid TOML"),
        ('size = "tiny"', "needs the keys 'size' and 'questions'"),
        ('sise = "tiny"\nquestions = []', "has no key 'sise'. Did you mean 'size'?"),
        ("size = 'tiny'\nlimit_memory = 3\nquestions = []", "`$.limits`"),
        ("size = 3\nquestions = []", "`$.size`"),
        ('size = "tiny"\nquestions = ["gemm"]', "`$.questions[0]`"),
        ('size = "tiny"\nquestions = [{ workload = "gemm", pass = "back" }]', "no pass 'back'"),
        (
            'size = "tiny"\nquestions = []\n[protocol]\nblcks = 3',
            "[protocol] has no key 'blcks'. Did you mean 'blocks'",
        ),
        ('size = "tiny"\nquestions = []\n[protocol]\nblocks = true', "`$.protocol.blocks`"),
    ],
)
def test_a_mistake_is_named_with_its_place(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "mine.toml"
    file.write_text(text)
    with pytest.raises(UserError) as refused:
        preset.load(str(file))
    assert str(file) in str(refused.value)
    assert said in str(refused.value)


def test_whole_numbers_stand_for_seconds(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    file.write_text('size = "tiny"\nquestions = []\n[protocol]\nseconds_min = 3')
    assert preset.load(str(file)).protocol.seconds_min == 3


def test_an_unknown_name_has_its_near_match() -> None:
    with pytest.raises(UserError, match="Did you mean 'quick'"):
        preset.load("Quik")
    with pytest.raises(UserError, match=r"no preset file no/such\.toml"):
        preset.load("no/such.toml")
