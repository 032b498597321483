"""Interpreters: where the Python that a lock is for is on this machine, and how it gets there.

Standard library only.
"""

from __future__ import annotations

import re
import sys
from functools import cache

from suite.environments import say, uv
from suite.environments.locks import python_of
from suite.errors import COMMAND, UserError


@cache
def find(version: str) -> str | None:
    """The path of a Python, like `3.13`, that is on this machine; None where there is none.

    The one that runs this program comes first, then those that uv has installed, then those on PATH.
    """
    if version == running():
        return sys.executable
    program = uv.present()
    if program is None:
        return None
    try:
        return uv.run([program, "python", "find", "--system", "--no-python-downloads", version], "").strip()
    except UserError:
        return None


def get(version: str) -> str:
    """The same, installed by uv where there is none. Raises UserError with what a person can do."""
    if found := find(version):
        return found
    say(f"Python {version} isn't on this machine: uv gets it")
    try:
        uv.run([uv.find_uv(), "python", "install", version], "")
    except UserError as refused:
        causes = re.findall(r"^\s*(?:error|cause): (.+)$", str(refused), re.MULTILINE)
        why = causes[-1] if causes else str(refused).strip()
        raise UserError(f"Python {version} could not be got: {why}.\n{remedy(version)}") from None
    finally:
        find.cache_clear()
    if found := find(version):
        return found
    raise UserError(f"uv installed Python {version}, but doesn't find it. {remedy(version)}")


def lacking(name: str, target: str) -> str | None:
    """Why no environment can be made from a lock on this machine, as a row's reason; None where its Python is here."""
    version = python_of(name, target)
    if find(version):
        return None
    return (f"Python {version}, which the lock of environment {name} is for, isn't on this machine; `{COMMAND} doctor` "
            "says how to get it")  # fmt: skip


def remedy(version: str) -> str:
    """What a person can do where uv can't."""
    return (f"Install Python {version} with its headers (Debian 13: apt-get install python3.13-dev python3.13-venv; "
            f"pyenv install {version}), and have `python{version}` on PATH; or let uv take it from a mirror: "
            "UV_PYTHON_INSTALL_MIRROR.")  # fmt: skip


def running() -> str:
    """The version of the Python that runs this program."""
    return ".".join(map(str, sys.version_info[:2]))
