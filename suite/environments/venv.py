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
from suite.environments.locks import (
    CHOSEN,
    ORCHESTRATOR,
    all_locks,
    lock_path,
    lock_sha256,
    names,
    owner,
    pins,
    python_of_lock,
    pythons_of_lock,
    sha256,
    source_of,
    variants,
)
from suite.errors import UserError, unknown

MARKER = ".lock-sha256"  # written last: without it, or with other words, an environment isn't whole


@dataclass(frozen=True)  # no slots: an older Python must get as far as being refused
class Environment:
    """An environment ready to run."""

    name: str
    python: Path
    lock: Path
    lock_sha256: str


def place(name: str, target: str, lock: Path | None = None) -> Path:
    """Where an environment lives: `.venv`, or a folder named after its lock, so that two locks live side by side."""
    if name == ORCHESTRATOR:
        return environments.ROOT / ".venv"
    # A variant that has the lock of what it varies has its environment, too.
    family, digest = name.partition("@")[0], sha256(lock or lock_path(name, target))
    return environments.ROOT / ".environments" / target / f"{family}-{(digest or 'none')[:12]}"


def status(name: str, target: str, lock: Path | None = None) -> str:
    """`ready`, `missing`, `half-made` (or of another lock or checkout, or its Python is gone), or `no lock`: of the
    lock in use, or of another one of the environment's."""
    lock = lock or lock_path(name, target)
    folder = place(name, target, lock)
    if not lock.is_file():
        return "no lock"
    if not os.path.lexists(folder):
        return "missing"
    marker = folder / MARKER
    whole = marker.is_file() and marker.read_bytes() == os.fsencode(seal(name, lock))
    return "ready" if whole and (folder / "bin" / "python").exists() else "half-made"


def seal(name: str, lock: Path) -> str:
    """What the marker of a whole environment says: its lock; for the orchestrator's also checkout and commands.

    The scripts of `.venv` name an interpreter and a project by their full paths: in a checkout that was moved they
    can't start, and in a copy they would run the original without a word. They also name the functions that they call.
    A stack's environment needs none of that, since nothing but its `bin/python` is ever started: a link to the
    Python that it was made by, and that looks for the libraries beside itself, wherever that is.
    """
    words = [sha256(lock) or "none"]
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


def get_pythons(wanted: Iterable[str], target: str, *, again: bool = False) -> list[str]:
    """Have uv install Pythons, so that each environment can be made from its newest lock, or else from the next one;
    what to do about the environments that then can't be made at all.

    An environment that is made, if only from an older lock, is asked of nobody, but `again`.
    """
    could_not: dict[str, str] = {}
    lacking = []
    for name in wanted:
        locks = [lock for lock in all_locks(name, target) if lock.is_file()]
        if not locks or any(status(name, target, lock) == "ready" for lock in (locks[:1] if again else locks)):
            continue
        versions = list(map(python_of_lock, locks))
        if not can_be_got(versions[0], could_not) and not any(map(pythons.find, versions[1:])):
            # uv may have an older one that it lacks a newer one of.
            lacking += [] if any(can_be_got(version, could_not) for version in versions[1:]) else versions[:1]
    return [could_not[version] for version in dict.fromkeys(lacking)]


def can_be_got(version: str, could_not: dict[str, str]) -> bool:
    """Whether a Python is on this machine in the end; why not is kept by version, and asked once."""
    if version not in could_not:
        try:
            pythons.get(version)
        except UserError as why:
            could_not[version] = str(why)
    return version not in could_not


def choose(name: str, target: str) -> str | None:
    """Choose, for this process, the newest lock of an environment that this machine can make; None if that is the
    newest of all, else which it is in place of which, and why."""
    owning = owner(name, target)
    if (name, target) not in CHOSEN and (owning, target) not in CHOSEN:
        locks = all_locks(name, target)
        fit = next(
            (lock for lock in locks if status(name, target, lock) == "ready" or pythons.find(python_of_lock(lock))),
            locks[0],
        )
        if fit != locks[0]:
            CHOSEN[owning, target] = fit
    return fallback(name, target)


def fallback(name: str, target: str) -> str | None:
    """What an environment has in place of its newest lock: `jax 0.10.2 on Python 3.11 in place of 0.12.0.1: no Python
    3.13 or 3.12 here`. None where it has the newest, or a lock that isn't its own."""
    locks, chosen = all_locks(name, target), lock_path(name, target)
    if chosen not in locks[1:]:
        return None
    new, old = (pins(lock.read_text(encoding="utf-8")) for lock in (locks[0], chosen))
    asked = re.findall(r"^([\w-]+)", source_of(locks[0]).read_text(encoding="utf-8"), re.MULTILINE)
    names = [package for package in asked if old.get(package) != new.get(package)]
    packages = ", ".join(f"{package} {old.get(package, 'none')}" for package in names)
    instead = ", ".join(new[package] for package in names if package in new) or f"Python {new['python']}"
    skipped = " or ".join(python_of_lock(lock) for lock in locks[: locks.index(chosen)])
    used = f"{packages}{' on ' if packages else ''}Python {old['python']}"
    return f"{used} in place of {instead}: no Python {skipped} here"


def chosen(wanted: Iterable[str], target: str) -> list[str]:
    """`choose` for several environments; a line for each thing that some of them have in place of the newest."""
    by_words: dict[str, list[str]] = {}
    for name in wanted:
        if words := choose(name, target):
            by_words.setdefault(words, []).append(name)
    return [f"{', '.join(names)}: {words}" for words, names in by_words.items()]


def ensure(name: str, target: str = "cpu") -> Environment:
    """An environment made from its lock, or found made. Raises UserError; nothing half-made stays behind."""
    if name != ORCHESTRATOR:
        choose(name, target)
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
                    make(made, target, seal(name, lock), again=found == "half-made")
        except OSError as broken:
            advice = uv.remedy(str(broken))
            raise UserError(f"Environment {name} can't be made in {folder}: {broken}.\n{advice}") from None
    return made


def make(wanted: Environment, target: str, sealed: str, *, again: bool) -> None:
    """Install a lock into a new environment of its Python, byte code compiled; the marker, `sealed`, is written
    last."""
    folder, version = place(wanted.name, target), python_of_lock(wanted.lock)
    if wanted.name == ORCHESTRATOR:
        version = pythons.running()
        refuse_python(pythons_of_lock(wanted.lock))
    if folder.resolve() == Path(sys.prefix).resolve():
        raise UserError(
            f"{folder} isn't made from {wanted.lock} as it is now, or not for this checkout. "
            "`make setup` makes it again."
        )
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
        # Wheels alone: what is built from source runs its own setup, and a lock may be a stranger's.
        uv.run(
            [
                program,
                "pip",
                "sync",
                "--python",
                str(wanted.python),
                "--require-hashes",
                "--compile-bytecode",
                "--only-binary",
                ":all:",
                *uv.wheel_source(wanted.lock),
                str(wanted.lock),
            ],
            failure,
        )
        if wanted.name == ORCHESTRATOR:
            # Last, because the project's `invoke` command replaces the library's own.
            uv.run(
                [
                    program,
                    "pip",
                    "install",
                    "--python",
                    str(wanted.python),
                    "--no-deps",
                    "--no-build-isolation",
                    "--editable",
                    str(environments.ROOT),
                ],
                failure,
            )
        (folder / MARKER).write_bytes(os.fsencode(sealed))
    except BaseException:  # Ctrl-C as well: no later run may take half an environment for a whole one
        say("failed")
        remove(folder)
        raise
    say(f"{time.monotonic() - started:.1f} s, {size(folder) / 1e6:.0f} MB")


def refuse_python(wanted: list[str]) -> None:
    """Raises UserError under any Python but those that the orchestrator is for."""
    if pythons.running() not in wanted:
        raise UserError(
            f"Stack Wars needs Python {' or '.join(wanted)}; {sys.executable} is {sys.version.split()[0]}. "
            f"Install one of them, or say where it is: `make setup PYTHON=/path/to/python{wanted[0]}`."
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
        current = {
            place(name, target, lock)
            for name in (*names(target), *variants(target))
            for lock in all_locks(name, target)
        }
        for folder in sorted((environments.ROOT / ".environments" / target).glob("*-*")):
            if folder.is_dir() and folder not in current:
                remove(folder)
                removed.append(folder)
    return removed
