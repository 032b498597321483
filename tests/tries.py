"""Runs pytest, and what failed there once more by itself: a test of real processes can fail because those of other
tests take its cores."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path

FAILED = 1  # pytest's exit code if tests failed; others say that it couldn't even begin
ALONE = ("--numprocesses=0", "--last-failed", "--maxfail=3", "-rpf")


def pytest(*words: str, folder: Path, environ: Mapping[str, str]) -> int:
    """Returns the exit code of the last try, whose last lines name what has passed in it."""
    code = ended(words, folder, environ)
    if code == FAILED:
        print("Tests failed beside others. They are run once more, one after another:", flush=True)
        code = ended([*words, *ALONE], folder, environ)
    return code


def ended(words: Sequence[str], folder: Path, environ: Mapping[str, str]) -> int:
    """Returns pytest's exit code. Ctrl-C reaches pytest, too, which ends what its tests have started: it isn't killed
    meanwhile, as `subprocess.run` would."""
    with subprocess.Popen([sys.executable, "-m", "pytest", *words], cwd=folder, env=environ) as running:
        while True:
            with suppress(KeyboardInterrupt):
                return running.wait()
