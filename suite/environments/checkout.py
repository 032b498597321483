"""Runs git in this checkout, to read its revision, its origin and its uncommitted changes."""

from __future__ import annotations

import re
import subprocess

from suite.environments import ROOT


def git(*words: str) -> str:
    """Returns what `git WORDS` prints; empty if it fails, as in an unpacked source archive."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def public_address(remote: str) -> str:
    """Returns the address of a git remote without user name and password; empty if the remote isn't a web address."""
    address = re.fullmatch(r"(https?://)(?:[^@/]*@)?(.+)", remote)
    return address[1] + address[2] if address else ""
