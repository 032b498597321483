"""A search among versions, end to end: a stack of which the later ones sleep longer, and one that can't run."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from suite.environments.locks import Lock
from suite.errors import UserError
from suite.extras.bisect import command as bisect
from suite.extras.bisect.command import BisectOptions
from suite.verdicts import speedups
from tests.ctrl_c import on_ctrl_c
from tests.launch.programs import HUNG_SECONDS, wait_for
from tests.scenes import FAKE, SCENARIOS

PRESET = """
title = "A search"
size = "calm"
baseline = "fake"
stacks = ["fake"]
twin = false
questions = [{ workload = "story", pass = "forward" }]

[protocol]
seconds_min = 0.05
noisy_retries = 0
disturbed_retries = 0
replaced_seconds_max = 0.0
roofline = false
"""


RELEASES = "1.2,1.3,1.4,1.5,1.6"
# Releases here differ by a factor of two, for which fewer blocks than a framework's will do.
BLOCKS = (3, 6, 12)
PROGRAM = f"""
from suite.cli import app
from suite.extras.bisect import command as bisect
bisect.BLOCKS = {BLOCKS}
app.main()
"""


def options(folder: Path, **more: Any) -> BisectOptions:
    """What is asked in a folder of its own, with few and short processes."""
    (folder / "search.toml").write_text(PRESET)
    return BisectOptions(
        workload=("story",),
        pass_=("forward",),
        dims=("step_us=5000",),
        workload_path=(str(SCENARIOS),),
        stack_path=(str(FAKE),),
        preset=str(folder / "search.toml"),
        results=str(folder / "results"),
        engine="local",
        releases=tuple(RELEASES.split(",")),
        force=True,
        **{"stack": ("fake",), "good": "1.2", "bad": "1.6", "threshold": 1.3} | more,
    )


def searched(folder: Path, **more: Any) -> int:
    return bisect.bisect(options=options(folder, **more))


def command(folder: Path) -> list[str]:
    return [sys.executable, "-c", PROGRAM, "bisect", *options(folder).words()]


@pytest.fixture
def undisturbed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fake stack sleeps: no verdict of it has to wait until others leave it the cores, nor takes many blocks."""
    monkeypatch.setattr(speedups, "disturbed", lambda *stacks: 0)
    monkeypatch.setattr(bisect, "BLOCKS", BLOCKS)


@pytest.mark.release
@pytest.mark.usefixtures("undisturbed")
def test_the_first_slower_version_is_found_and_found_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    running: Any = subprocess.Popen(
        command(tmp_path), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True, preexec_fn=on_ctrl_c()
    )
    wait_for(lambda: len([*tmp_path.glob("results/*/*/*/attempts/*.parquet")]) >= 3)
    os.kill(running.pid, signal.SIGINT)
    _, cut = running.communicate(timeout=HUNG_SECONDS)
    assert running.returncode == 130, cut
    assert "continues the search" in cut
    assert searched(tmp_path) == 0
    found = capsys.readouterr().out
    verdicts = dict(re.findall(r"^\| (1\.\d) +\| (slower|not slower|skipped|good|undecided)", found, re.MULTILINE))
    assert {"1.2": "good", "1.3": "not slower", "1.5": "slower", "1.6": "slower"}.items() <= verdicts.items()
    assert found.splitlines()[-1].startswith("1.5 ") and "1.4" in found.splitlines()[-1]
    tried = {folder.name.split("-")[0] for folder in tmp_path.glob("results/bisect-*/*")}
    assert tried == {"1.6", "1.3", "1.5", "1.4"}
    begun = tmp_path.glob(f"results/bisect-*/1.6-{BLOCKS[0]}/*/plan.json")
    cut_short = [plan for plan in begun if plan.parent.name != "latest"]
    assert len(cut_short) == 1, "the one that was cut is completed, not begun again"
    sets = sorted(tmp_path.glob("results/bisect-*/*/*/plan.json"))
    assert searched(tmp_path) == 0
    assert capsys.readouterr().out.splitlines()[-1] == found.splitlines()[-1]
    assert sorted(tmp_path.glob("results/bisect-*/*/*/plan.json")) == sets, "what was measured isn't measured again"


@pytest.mark.usefixtures("undisturbed")
def test_a_bad_version_that_is_not_slower_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert searched(tmp_path, bad="1.3") == 3
    assert "1.3 isn't slower" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"threshold": 0.9}, "a factor above 1"),
        ({"stack": ("fakke",)}, "'fake'"),
        ({"good": "1.6", "bad": "1.2"}, "--releases"),
        ({"good": ""}, "A search needs"),
        ({"stack": ("fake:mine",)}, "belong together"),
        ({"file": ("mine.py",)}, "belong together"),
    ],
)
def test_a_mistake_is_told_before_anything_runs(tmp_path: Path, changed: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        searched(tmp_path, **changed)
    assert not (tmp_path / "results").exists()


@pytest.mark.parametrize(
    ("pin", "python", "told"),
    [
        ("0.10.2", "3.13", None),
        ("0.10.2", "3.11", "on Python 3.11, not 0.10.2 on 3.13"),
        ("0.10.1", "3.13", "has jax 0.10.1 on Python 3.13, not 0.10.2"),
    ],
)
def test_a_variant_that_was_there_must_be_like_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pin: str, python: str, told: str | None
) -> None:
    lock = tmp_path / "jax@0.10.2.txt"
    lock.write_text(f"# Python {python}\njax=={pin} \\\n    --hash=sha256:0\n")
    monkeypatch.setattr(bisect.locks, "newest", lambda name, target: Lock(name, target, lock))
    search = bisect.Search(options(tmp_path), "jax_jit", "0.10.2", 1.1, "3.13")
    found = search.unlike("jax@0.10.2", "0.10.2")
    assert found is None if told is None else told in (found or "")
