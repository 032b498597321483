"""Runs pytest, and what failed there once more by itself: a test of real processes can fail because those of other
tests take its cores."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

FAILED = 1  # pytest's exit code if tests failed; others say that it couldn't even begin
ALONE = ("--numprocesses=0", "--last-failed", "--maxfail=3", "-rpf")


def pytest(*words: str, folder: Path, environ: Mapping[str, str]) -> int:
    """Returns the exit code of the last try, whose last lines name what has passed in it."""
    command = [sys.executable, "-m", "pytest", *words]
    code = subprocess.run(command, cwd=folder, env=environ, check=False).returncode
    if code == FAILED:
        print("Tests failed beside others. They are run once more, one after another:", flush=True)
        code = subprocess.run([*command, *ALONE], cwd=folder, env=environ, check=False).returncode
    return code
