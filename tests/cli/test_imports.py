"""A command imports no heavy package that it doesn't need: what it needs later is imported later."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from suite import environments
from tests.cli.measure.test_run import STORY

HEAVY = {"docker", "jinja2", "numpy", "polars", "pyarrow", "requests", "scipy"}
# Runs a command in this process, as `main` does; its last line names what was imported until its end, or until it
# starts its first process, by which it ends here.
PROGRAM = """
import os, sys
from suite.cli.app import APP, code_of

def told() -> None:
    print("\\n", *sorted(name for name in sys.modules if "." not in name), flush=True)
    os._exit(0)

def first_process(event, arguments):
    if event == "subprocess.Popen" and "suite.launch.supervisor.supervise" in arguments[1]:
        sys.stdout = sys.__stdout__
        told()

sys.addaudithook(first_process)
assert code_of(APP, sys.argv[1:]) == 0
told()
"""


def imported(*words: str, cwd: Path = environments.ROOT) -> set[str]:
    done = subprocess.run([sys.executable, "-c", PROGRAM, *words], cwd=cwd, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return HEAVY & set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize(
    ("words", "needed"),
    [
        (["--help"], set()),
        (["sets"], set()),
        (["list"], {"numpy"}),
        (["run", "--dry-run", "--engine=local"], {"numpy"}),
        (["ask", "examples/layernorm.py", "--dry-run", "--engine=local"], {"numpy"}),
    ],
)  # fmt: skip
def test_a_command_imports_only_what_it_needs(words: list[str], needed: set[str]) -> None:
    assert imported(*words) <= needed


def test_a_run_imports_neither_page_nor_arrow_nor_scipy_before_its_first_process(tmp_path: Path) -> None:
    asked = ("run", *STORY, "--size=calm", "--stack=fake", "--engine=local", "--force", f"--results={tmp_path}")
    assert imported(*asked) == {"numpy"}
    assert list(tmp_path.glob("*/logs/*/ATTEMPT.json")), "a process was about to start"


def test_the_list_of_invoke_reads_no_command(tmp_path: Path) -> None:
    told = subprocess.run(
        [sys.executable, "-X", "importtime", "-m", "invoke", "--list"],
        cwd=environments.ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    names = {line.rpartition("|")[2].strip() for line in told.stderr.splitlines()}
    assert "cyclopts" in names and not HEAVY & names
    assert all(name in told.stdout.split() for name in ("run", "sets", "check"))
