"""What git says of this checkout."""

from __future__ import annotations

import subprocess

from suite.environments import ROOT


def git(*words: str) -> str:
    """What `git words` prints; empty where it can't run or has nothing to say (an unpacked archive has no git)."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""
