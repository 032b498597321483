"""A search among versions, end to end: a stack of which the later ones sleep longer, and one that can't run."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

from tests.pipeline import SCENARIOS
from tests.runs import INVOKE

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
roofline = false
"""


def command(folder: Path, *words: str) -> list[str]:
    """A search in a folder of its own, with few and short processes."""
    (folder / "search.toml").write_text(PRESET)
    asked = {"--workload": "story", "--stack": "fake", "--pass": "forward", "--workload-path": str(SCENARIOS),
             "--preset": str(folder / "search.toml"), "--results": str(folder / "results"), "--engine": "local",
             "--good": "1.2", "--bad": "1.6", "--releases": "1.2,1.3,1.4,1.5,1.6",
             "--threshold": "1.3"} | dict(word.split("=", 1) for word in words)  # fmt: skip
    return [str(INVOKE), "bisect", "--force", *(f"{option}={value}" for option, value in asked.items())]


def searched(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """A whole search."""
    return subprocess.run(command(folder, *words), capture_output=True, text=True, check=False)


def test_the_first_slower_version_is_found_and_found_again(tmp_path: Path) -> None:
    running: Any = subprocess.Popen(command(tmp_path), stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                    preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))  # fmt: skip
    deadline = time.monotonic() + 120
    while len(list(tmp_path.glob("results/*/*/*/attempts/*.parquet"))) < 3 and time.monotonic() < deadline:
        time.sleep(0.05)
    os.kill(running.pid, signal.SIGINT)
    _, cut = running.communicate(timeout=60)
    assert running.returncode == 130, cut
    assert "The same command goes on from here." in cut
    done = searched(tmp_path)
    assert done.returncode == 0, done.stderr
    assert "1.5 is the first release that is slower than 1.2" in done.stdout
    assert "1.3 isn't yet. Nothing is known of 1.4 between them." in done.stdout
    tried = {folder.name for folder in tmp_path.glob("results/bisect-*/*")}
    assert {name.split("-")[0] for name in tried} == {"1.6", "1.3", "1.5", "1.4"}
    sets = sorted(tmp_path.glob("results/bisect-*/*/*/plan.json"))
    again = searched(tmp_path)
    assert again.stdout.splitlines()[-1] == done.stdout.splitlines()[-1]
    assert sorted(tmp_path.glob("results/bisect-*/*/*/plan.json")) == sets, "what was measured isn't measured again"


def test_a_bad_version_that_is_not_slower_is_said(tmp_path: Path) -> None:
    done = searched(tmp_path, "--bad=1.3")
    assert done.returncode == 3
    assert "1.3 isn't slower than 1.2 by 1.3: nothing to search for." in done.stdout


def test_mistakes_are_told_before_anything_runs(tmp_path: Path) -> None:
    for words, told in (
        (("--threshold=0.9",), "a factor above 1"),
        (("--stack=fakke",), "Did you mean 'fake'"),
        (("--good=1.6", "--bad=1.2"), "names the good one, 1.6, before the bad one, 1.2"),
        (("--pass=sideways",), "pass"),
    ):
        done = searched(tmp_path, *words)
        assert done.returncode == 2, (words, done.stderr)
        assert told in done.stderr and "Traceback" not in done.stderr
