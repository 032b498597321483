"""Interpreters: where the Python that a lock is for is on this machine, and how it gets there.

Standard library only.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path

from suite.environments import say, uv
from suite.environments.locks import all_locks, python_of_lock, version_key
from suite.errors import COMMAND, UserError

# Where version managers and distributions put Pythons that PATH doesn't lead to. uv asks each of them to run.
MANAGED = (
    "$PYENV_ROOT/versions/*/bin",
    "~/.pyenv/versions/*/bin",
    "$ASDF_DATA_DIR/installs/python/*/bin",
    "~/.asdf/installs/python/*/bin",
    "$MISE_DATA_DIR/installs/python/*/bin",
    "~/.local/share/mise/installs/python/*/bin",
    "$CONDA_PREFIX/bin",
    "~/*conda3/bin",
    "~/*conda3/envs/*/bin",
    "~/miniforge3/bin",
    "~/miniforge3/envs/*/bin",
    "/opt/conda/bin",
    "/opt/conda/envs/*/bin",
    "/opt/python/*/bin",
)


@cache
def find(version: str) -> str | None:
    """The path of a Python, like `3.13`, that is on this machine; None where there is none.

    The one that runs this program comes first, then those that uv has installed, those on PATH, and those that a
    version manager has.
    """
    if version == running():
        return sys.executable
    program = uv.present()
    if program is None:
        return None
    try:
        return uv.run(
            [program, "python", "find", "--system", "--no-python-downloads", version],
            "",
            {"PATH": os.pathsep.join(folders())},
        ).strip()
    except UserError:
        return None


def folders() -> list[str]:
    """Where programs may be: PATH, then what version managers have installed, the newest first."""
    places = [Path(text) for text in map(os.path.expanduser, map(os.path.expandvars, MANAGED)) if "$" not in text]
    managed = [folder for place in places for folder in Path("/").glob(str(place.relative_to("/")))]
    managed.sort(key=lambda folder: version_key(str(folder.parent.name)), reverse=True)
    return [*os.environ.get("PATH", "").split(os.pathsep), *map(str, managed)]


def find_without_uv(versions: list[str]) -> str | None:
    """The first of these Pythons that starts, by its name in one of these folders: before there is a uv to ask."""
    for version in versions:
        for folder in folders():
            program = shutil.which(f"python{version}", path=folder)
            # Asked to run: a version manager's stand-in may stand for nothing.
            if program and subprocess.run([program, "-c", ""], capture_output=True, check=False).returncode == 0:
                return program
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
    """Why no environment can be made on this machine, as a row's reason; None where a lock's Python is here."""
    versions = [python_of_lock(lock) for lock in all_locks(name, target)]
    if any(map(find, versions)):
        return None
    which = "the lock" if len(versions) == 1 else "a lock"
    return (
        f"Python {' or '.join(versions)}, which environment {name} has {which} for, isn't on this machine; "
        f"`{COMMAND} doctor` says how to get it"
    )


def remedy(version: str) -> str:
    """What a person can do where uv can't."""
    return (
        f"Install Python {version} with its headers (Debian 13: apt-get install python3.13-dev python3.13-venv; "
        f"pyenv install {version}), and have `python{version}` on PATH; or let uv take it from a mirror: "
        "UV_PYTHON_INSTALL_MIRROR."
    )


def running() -> str:
    """The version of the Python that runs this program."""
    return ".".join(map(str, sys.version_info[:2]))
