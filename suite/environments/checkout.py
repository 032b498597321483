"""Runs git in this checkout, to read its revision, its origin and its uncommitted changes."""

from __future__ import annotations

import os
import re
import subprocess

from suite.environments import ROOT
from suite.errors import UNPACKED


def git(*words: str) -> str:
    """Returns what `git WORDS` prints; empty if it fails, as in an unpacked source archive."""
    # An unpacked archive may lie inside a repository of somebody's.
    # Variables of git's own name a repository that isn't this one, as inside of a hook.
    environ = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    environ["GIT_CEILING_DIRECTORIES"] = str(ROOT.parent)
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    except OSError:
        return ""
    return done.stdout if done.returncode == 0 else ""


def revision() -> str:
    """Returns the commit of this source; empty if unknown. An unpacked wheel has it in a file."""
    return origin_of_wheel()[0] if UNPACKED.is_file() else git("rev-parse", "HEAD").strip()


def has_commit(commit: str) -> bool:
    return commit == revision() or git("cat-file", "-t", commit).strip() == "commit"


def project_address() -> str:
    remote = origin_of_wheel()[1] if UNPACKED.is_file() else git("remote", "get-url", "origin").strip()
    return public_address(remote).removesuffix(".git")


def origin_of_wheel() -> list[str]:
    """Returns the commit and the address that an unpacked wheel came from; empty texts if unknown."""
    return [*UNPACKED.read_text(encoding="utf-8").split("\n"), "", ""][:2]


def public_address(remote: str) -> str:
    """Returns the address of a git remote without user name and password; empty if the remote isn't a web address."""
    address = re.fullmatch(r"(https?://)(?:[^@/]*@)?(.+)", remote)
    return address[1] + address[2] if address else ""
