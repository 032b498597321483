"""Locked virtual environments: made from hashed locks by uv, reused by lock hash, never half-made.

Standard library only.
"""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from suite import environments
from suite.environments import pythons, say, uv
from suite.environments.locks import ORCHESTRATOR, lock_path, lock_sha256, names, python_of, variants
from suite.errors import UserError, unknown

MARKER = ".lock-sha256"  # written last: without it, or with other words, an environment isn't whole


@dataclass(frozen=True)  # no slots: an older Python must get as far as being refused
class Environment:
    """An environment ready to run."""

    name: str
    python: Path
    lock: Path
    lock_sha256: str


def place(name: str, target: str) -> Path:
    """Where an environment lives: `.venv`, or a folder named after its lock, so that two locks live side by side."""
    if name == ORCHESTRATOR:
        return environments.ROOT / ".venv"
    # A variant that has the lock of what it varies has its environment, too.
    family = name.partition("@")[0]
    return environments.ROOT / ".environments" / target / f"{family}-{(lock_sha256(name, target) or 'none')[:12]}"


def status(name: str, target: str) -> str:
    """`ready`, `missing`, `half-made` (or of another lock or checkout, or its Python is gone), or `no lock`."""
    folder = place(name, target)
    if lock_sha256(name, target) is None:
        return "no lock"
    if not os.path.lexists(folder):
        return "missing"
    marker = folder / MARKER
    whole = marker.is_file() and marker.read_bytes() == os.fsencode(seal(name, target))
    return "ready" if whole and (folder / "bin" / "python").exists() else "half-made"


def seal(name: str, target: str) -> str:
    """What the marker of a whole environment says: its lock; for the orchestrator's also checkout and commands.

    The scripts of `.venv` name an interpreter and a project by their full paths: in a checkout that was moved they
    can't start, and in a copy they would run the original without a word. They also name the functions that they call.
    A stack's environment needs none of that, since nothing but its `bin/python` is ever started: a link to the
    Python that it was made by, and that looks for the libraries beside itself, wherever that is.
    """
    words = [lock_sha256(name, target) or "none"]
    if name == ORCHESTRATOR:
        words += [str(environments.ROOT), project_scripts()]
    return "\n".join(words) + "\n"


def project_scripts() -> str:
    """The lines of pyproject.toml that say which commands there are."""
    file = environments.ROOT / "pyproject.toml"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    # No tomllib: an older Python must get as far as being refused.
    found = re.search(r"^\[project\.scripts\]\n(.*?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL)
    return found[1].strip() if found else ""


def get_pythons(wanted: Iterable[str], target: str) -> list[str]:
    """Have uv install the Pythons of environments that are still to be made; what to do about those it can't."""
    versions = {python_of(name, target) for name in wanted
                if lock_sha256(name, target) and status(name, target) != "ready"}  # fmt: skip
    refused = []
    for version in sorted(versions):
        try:
            pythons.get(version)
        except UserError as why:
            refused.append(str(why))
    return refused


def ensure(name: str, target: str = "cpu") -> Environment:
    """An environment made from its lock, or found made. Raises UserError; nothing half-made stays behind."""
    digest, lock = lock_sha256(name, target), lock_path(name, target)
    if digest is None:
        known = [*names(target), *variants(target), ORCHESTRATOR]
        raise unknown(f"lock for target {target} of environment", name, known)
    folder = place(name, target)
    made = Environment(name, folder / "bin" / "python", lock, digest)
    if status(name, target) != "ready":
        try:
            with only_one(folder):
                # Asked again: another process may have made it while this one waited.
                found = status(name, target)
                if found != "ready":
                    make(made, target, seal(name, target), again=found == "half-made")
        except OSError as broken:
            advice = uv.remedy(str(broken))
            raise UserError(f"Environment {name} can't be made in {folder}: {broken}.\n{advice}") from None
    return made


def make(wanted: Environment, target: str, sealed: str, *, again: bool) -> None:
    """Install a lock into a new environment of its Python, byte code compiled; the marker, `sealed`, is written
    last."""
    folder, version = place(wanted.name, target), python_of(wanted.name, target)
    if wanted.name == ORCHESTRATOR:
        refuse_python(version)
    if folder.resolve() == Path(sys.prefix).resolve():
        raise UserError(f"{folder} isn't made from {wanted.lock} as it is now, or not for this checkout. "
                        "`make setup` makes it again.")  # fmt: skip
    if again:
        say(f"{folder} is half-made, or of another lock or checkout: it is removed and made again")
    program, python = uv.find_uv(folder), pythons.get(version)
    started = time.monotonic()
    # One line in two halves: the first tells a person with a slow network what is going on.
    say(f"Making environment {wanted.name} from {os.path.relpath(wanted.lock, environments.ROOT)} ... ", end="")
    failure = f"{wanted.lock} could not be installed; nothing of it is left behind."
    remove(folder)
    try:
        uv.run([program, "venv", "--no-project", "--python", python, str(folder)], failure)
        uv.run([program, "pip", "sync", "--python", str(wanted.python), "--require-hashes", "--compile-bytecode",
             *uv.wheel_source(wanted.name, target), str(wanted.lock)], failure)  # fmt: skip
        if wanted.name == ORCHESTRATOR:
            # Last, because the project's `invoke` command replaces the library's own.
            uv.run([program, "pip", "install", "--python", str(wanted.python), "--no-deps", "--no-build-isolation",
                 "--editable", str(environments.ROOT)], failure)  # fmt: skip
        (folder / MARKER).write_bytes(os.fsencode(sealed))
    except BaseException:  # Ctrl-C as well: no later run may take half an environment for a whole one
        say("failed")
        remove(folder)
        raise
    say(f"{time.monotonic() - started:.1f} s, {size(folder) / 1e6:.0f} MB")


def refuse_python(wanted: str) -> None:
    """Raises UserError under any Python but the one that the orchestrator is for."""
    if pythons.running() != wanted:
        raise UserError(
            f"Stack Wars needs Python {wanted}; {sys.executable} is {sys.version.split()[0]}. "
            f"Install Python {wanted}, or say where it is: `make setup PYTHON=/path/to/python{wanted}`."
        )


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold a file lock, so that two processes never make the same environment at once."""
    locks = environments.ROOT / ".environments" / "locks"
    locks.mkdir(parents=True, exist_ok=True)
    with (locks / f"{folder.name.lstrip('.')}.lock").open("w") as file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"Another process is making {folder}: waiting for it")
            fcntl.flock(file, fcntl.LOCK_EX)
        yield


def remove(folder: Path) -> None:
    """Remove an environment, if there is one."""
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def size(folder: Path) -> int:
    """Bytes of all files in a folder."""
    return sum(path.lstat().st_size for path in folder.rglob("*"))


def prune() -> list[Path]:
    """Remove environments whose lock isn't the current one; returns them."""
    removed = []
    for target in ("cpu", "cuda", "tpu", "test", "cluster"):
        current = {place(name, target) for name in (*names(target), *variants(target))}
        for folder in sorted((environments.ROOT / ".environments" / target).glob("*-*")):
            if folder.is_dir() and folder not in current:
                remove(folder)
                removed.append(folder)
    return removed
