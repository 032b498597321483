"""Finds the Python of a lock on this machine, or lets uv install it. Standard library only."""

from __future__ import annotations

import os
import re
import shutil
import sys
from functools import cache
from pathlib import Path

from suite.environments import say, uv
from suite.environments.locks import all_locks, version_key
from suite.errors import COMMAND, UserError

# Where uv, version managers and distributions put Pythons that may not be on PATH.
UVS = "cpython-3.*[0-9]-linux-*/bin"  # without free-threaded builds, whose version ends in a word
MANAGED = (
    f"$UV_PYTHON_INSTALL_DIR/{UVS}",
    f"$XDG_DATA_HOME/uv/python/{UVS}",
    f"~/.local/share/uv/python/{UVS}",
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
    """Returns the path of this machine's Python of a version like `3.13`: the one that runs this program, else the
    first on PATH or in a folder of `MANAGED` that starts. None if it has none."""
    if version == running():
        return sys.executable
    for folder in folders():
        program = shutil.which(f"python{version}", path=folder)
        # Started as a trial, since a version manager's shim may start no Python.
        if program and uv.runs(program):
            return program
    return None


def folders() -> list[str]:
    """Returns the folders in which to look for a Python: first those of PATH, then the managed ones, newest version
    first; then those of shims, which a version manager puts on PATH, because a shim takes long to start no Python."""
    places = [Path(text) for text in map(os.path.expanduser, map(os.path.expandvars, MANAGED)) if "$" not in text]
    managed = [folder for place in places for folder in Path("/").glob(str(place.relative_to("/")))]
    managed.sort(key=lambda folder: version_key(str(folder.parent.name)), reverse=True)
    found = [*os.environ.get("PATH", "").split(os.pathsep), *map(str, managed)]
    return sorted(found, key=lambda folder: Path(folder).name == "shims")


def get(version: str) -> str:
    """Returns the path of a Python; if it is missing, uv installs it. Raises UserError, which says what to do, if uv
    can't."""
    if path := find(version):
        return path
    say(f"Python {version} isn't on this machine: uv tries to install it ... ", end="")
    try:
        uv.run([uv.find_uv(), "python", "install", version], "")
    except UserError as refused:
        causes = re.findall(r"^\s*(?:error|cause): (.+)$", str(refused), re.MULTILINE)
        why = causes[-1] if causes else str(refused).strip()
        say(f"it can't: {why}")
        raise UserError(f"Python {version} could not be installed: {why}.\n{remedy(version)}") from None
    finally:
        find.cache_clear()
    if path := find(version):
        say("done")
        return path
    say("it did, but can't find it")
    raise UserError(f"uv installed Python {version}, but can't find it. {remedy(version)}")


def lacking(name: str, target: str) -> str | None:
    """Returns the reason why an environment can't be made on this machine: it has the Python of none of its locks. None
    if it has one."""
    versions = [lock.python for lock in all_locks(name, target)]
    if any(map(find, versions)):
        return None
    return (
        f"environment {name} needs Python {' or '.join(versions)}, which isn't on this machine; "
        f"`{COMMAND} doctor` says how to get it"
    )


def remedy(version: str) -> str:
    return (
        f"Install Python {version} with its headers (Debian 13: apt-get install python3.13-dev python3.13-venv; "
        f"pyenv install {version}), and have `python{version}` on PATH; or let uv take it from a mirror: "
        "UV_PYTHON_INSTALL_MIRROR."
    )


def running() -> str:
    return ".".join(map(str, sys.version_info[:2]))
