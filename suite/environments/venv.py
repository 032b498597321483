"""Makes virtual environments from hashed locks with uv, and reuses an environment as long as its lock is the same.
Standard library only."""

from __future__ import annotations

import fcntl
import os
import re
import shutil
import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

from suite import environments
from suite.environments import ISOLATED, pythons, say, uv
from suite.environments.locks import ORCHESTRATOR, Lock, Locks, all_locks, names, newest, owner, variants, version_key
from suite.errors import UserError, unknown

MARKER = ".lock-sha256"  # this file is written last: an environment without it, or with another text in it, isn't whole


@dataclass(frozen=True)  # no slots: a Python without them must be able to import this, and gets a clear message
class Environment:
    """A virtual environment that is ready: its Python, and the lock from which it is made."""

    python: Path
    lock: Lock


def place(lock: Lock) -> Path:
    """Returns the folder of an environment: `.venv` for the orchestrator. Other folders have the lock's digest in their
    name, so that each lock has its own."""
    if lock.name == ORCHESTRATOR:
        return environments.ROOT / ".venv"
    # Named after the lock alone, so that a variant with only flags has the folder of the environment that it varies.
    family, digest = lock.name.partition("@")[0], lock.sha256 or "none"
    return environments.ROOT / ".environments" / lock.target / f"{family}-{digest[:12]}"


def status(lock: Lock) -> str:
    """Returns the state of a lock's environment: `ready`, `missing`, `no lock`, `unreadable` or `half-made`. An
    environment is also `half-made` if it belongs to another lock or checkout, or its Python is gone."""
    folder = place(lock)
    if not lock.exists:
        return "no lock"
    if not os.path.lexists(folder):
        return "missing"
    marker = folder / MARKER
    try:
        whole = marker.is_file() and marker.read_bytes() == os.fsencode(seal(lock))
        return "ready" if whole and (folder / "bin" / "python").exists() else "half-made"
    except PermissionError:
        return "unreadable"


def seal(lock: Lock) -> str:
    """Returns the text of the marker of a whole environment: the lock's sha256. The orchestrator's marker also has the
    checkout's path, the commands that pyproject.toml defines, and how they start their Python.

    The reason is the scripts in `.venv/bin`. They name the interpreter and the project by full paths: in a checkout
    that was moved they can't start, and in a copy they would silently run the original. They also name the functions
    behind the commands. Of a stack's environment only `bin/python` is started, which works anywhere.
    """
    words = [lock.sha256 or "none"]
    if lock.name == ORCHESTRATOR:
        words += [str(environments.ROOT), project_scripts(), ISOLATED]
    return "\n".join(words) + "\n"


def project_scripts() -> str:
    file = environments.ROOT / "pyproject.toml"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    # No tomllib: a Python without it must be able to come this far, and gets a clear message.
    section = re.search(r"^\[project\.scripts\]\n(.*?)(?=^\[|\Z)", text, re.MULTILINE | re.DOTALL)
    return section[1].strip() if section else ""


def get_pythons(wanted: Iterable[str], target: str, *, again: bool = False) -> list[str]:
    """Lets uv install a Python for each environment: that of its newest lock or, if uv can't, that of an older lock.
    For environments that can't be made from any lock, returns why the newest lock's Python can't be installed, and what
    to do.

    An environment that is already made, from any of its locks, needs no Python. With `again`, only one that is made
    from its newest lock needs none.
    """

    @cache  # so that uv tries only once
    def complaint(version: str) -> str | None:
        try:
            pythons.get(version)
        except UserError as why:
            return str(why)
        return None

    complaints = []
    for name in wanted:
        locks = [lock for lock in all_locks(name, target) if lock.exists]
        if not locks or "ready" in map(status, locks[:1] if again else locks):
            continue
        first, *older = (lock.python for lock in locks)
        if (why := complaint(first)) and not any(map(pythons.find, older)) and all(map(complaint, older)):
            complaints.append(why)
    return list(dict.fromkeys(complaints))


def fit(name: str, target: str) -> Lock:
    """Returns the newest lock from which this machine has made the environment or can make it. If there is none,
    returns the newest lock."""
    locks = all_locks(name, target)
    fits = (lock for lock in locks if status(lock) == "ready" or pythons.find(lock.python))
    return next(fits, locks[0])


def fitting(names: Iterable[str], locks: Locks) -> Locks:
    """Returns `locks` with a lock chosen for each of these environments. A choice that `locks` already has stays;
    otherwise it is the lock that `fit` returns."""
    chosen = dict(locks.chosen)
    for name in names:
        owning = owner(name, locks.target)
        if not chosen.keys() & {name, owning}:
            chosen[owning] = fit(name, locks.target).path
    return replace(locks, chosen=chosen)


def fallback(name: str, locks: Locks) -> str | None:
    """Returns which versions an environment has because its lock isn't the newest: `jax 0.10.2 on Python 3.11 in place
    of 0.12.0.1: no Python 3.13 or 3.12 here`. None if its lock is the newest, or isn't from this checkout."""
    known, chosen = all_locks(name, locks.target), locks.of(name)
    if chosen not in known[1:]:
        return None
    new, old = known[0].pins, chosen.pins
    required = re.findall(r"^([\w-]+)", known[0].source.read_text(encoding="utf-8"), re.MULTILINE)
    names = [package for package in required if old.get(package) != new.get(package)]
    packages = ", ".join(f"{package} {old.get(package, 'none')}" for package in names)
    instead = ", ".join(new[package] for package in names if package in new) or f"Python {new['python']}"
    skipped = " or ".join(lock.python for lock in known[: known.index(chosen)])
    used = f"{packages}{' on ' if packages else ''}Python {old['python']}"
    return f"{used} in place of {instead}: no Python {skipped} here"


def fallbacks(wanted: Iterable[str], locks: Locks) -> list[str]:
    """Returns the result of `fallback` for these environments, as lines: `torchax, jax: jax 0.10.2 on …`. Environments
    with the same words share a line."""
    by_words: dict[str, list[str]] = {}
    for name in wanted:
        if words := fallback(name, locks):
            by_words.setdefault(words, []).append(name)
    return [f"{', '.join(names)}: {words}" for words, names in by_words.items()]


def smaller(lock: Lock) -> str | None:
    """Returns what to do about CUDA's libraries that a lock brings to a CPU: the newest variant without them. None if
    there is no such variant, or the lock brings none."""
    others = (newest(name, lock.target) for name in variants(lock.target) if name.startswith(f"{lock.name}@"))
    without = [other.name.partition("@")[2] for other in others if other.exists and not brings_cuda(other)]
    if lock.target != "cpu" or not brings_cuda(lock) or not without:
        return None
    variant = max(without, key=version_key)
    return (
        f"{lock.name} brings CUDA's libraries, some GB; `--stack=STACK@{variant}` runs a stack in the smaller "
        f"{lock.name}@{variant}"
    )


def brings_cuda(lock: Lock) -> bool:
    return any(package.startswith("nvidia-") for package in lock.pins)


def ensure(name: str, target: str = "cpu") -> Environment:
    """Returns the environment of the newest lock of this checkout from which this machine can make it, as `made`."""
    return made(newest(name, target) if name == ORCHESTRATOR else fit(name, target))


def made(lock: Lock) -> Environment:
    """Returns a lock's environment, which is made first if it isn't ready. Raises UserError if it can't be made; then
    nothing half-made stays."""
    if not lock.exists:
        known = [*names(lock.target), *variants(lock.target), ORCHESTRATOR]
        raise unknown("locked environment", lock.name, known, of=f"Target {lock.target}")
    folder, state = place(lock), status(lock)
    if state == "unreadable":
        python = os.path.realpath(folder / "bin" / "python")
        raise UserError(f"{folder} or its Python, {python}, is another user's, and you can't read it. {uv.ELSEWHERE}")
    if state != "ready":
        try:
            with only_one(folder):
                if status(lock) != "ready":  # another process may have made it while this one waited
                    make(lock, folder)
        except OSError as broken:
            why, advice = f"{broken.filename}: {broken.strerror}", uv.remedy(str(broken))
            raise UserError(f"Environment {lock.name} can't be made in {folder} ({why}). {advice}") from None
    return Environment(folder / "bin" / "python", lock)


def make(lock: Lock, folder: Path) -> None:
    """Makes an environment: its Python, and the packages of its lock with byte code. The marker comes last."""
    version, sealed = lock.python, seal(lock)
    if lock.name == ORCHESTRATOR:
        version = pythons.running()
        refuse_python(lock.pythons)
    if folder.resolve() == Path(sys.prefix).resolve():
        raise UserError(
            f"This program runs in {folder}, which must be made again: it wasn't made from the present {lock.path}, "
            "or was made for another checkout. `make setup` makes it again."
        )
    if os.path.lexists(folder):
        say(f"{folder} is half-made, or was made for another lock or checkout: it is removed and made again")
    program, python, inside = uv.find_uv(folder), pythons.get(version), str(folder / "bin" / "python")
    started = time.monotonic()
    if advice := smaller(lock):
        say(advice)
    say(f"Making environment {lock.name} from {os.path.relpath(lock.path, environments.ROOT)} ...")
    failure = f"{lock.path} could not be installed; nothing was kept."
    remove(folder)
    try:
        uv.run([program, "venv", "--no-project", "--python", python, str(folder)], failure)
        # Only wheels, since building from source runs code, and a lock may come from a stranger.
        safely = ["--require-hashes", "--only-binary", ":all:", "--compile-bytecode", *uv.wheel_source(lock.path)]
        uv.run([program, "pip", "sync", "--python", inside, *safely, str(lock.path)], failure)
        if lock.name == ORCHESTRATOR:
            # Last, since it needs what the lock brings.
            this = ["--no-deps", "--no-build-isolation", "--editable", str(environments.ROOT)]
            uv.run([program, "pip", "install", "--python", inside, *this], failure)
            isolate(folder)
        (folder / MARKER).write_bytes(os.fsencode(sealed))
    except BaseException:  # Ctrl-C as well: no half-made environment stays
        say(f"Environment {lock.name}: failed")
        remove(folder)
        raise
    say(f"Environment {lock.name}: {time.monotonic() - started:.1f} s, {size(folder) / 1e6:.0f} MB")


def isolate(folder: Path) -> None:
    """Has the scripts of an environment start their Python isolated from the shell's variables, as `ISOLATED` says. uv
    writes `#!PYTHON`, or `'exec' 'PYTHON' "$0"` for a path that is long or has a space."""
    for script in filter(Path.is_file, (folder / "bin" / "stackwars", folder / "bin" / "invoke")):
        text = script.read_text(encoding="utf-8")
        script.write_text(re.sub(r"(/bin/python[\d.]*'?)(?=\s)", rf"\1 {ISOLATED}", text, count=1), encoding="utf-8")


def refuse_python(wanted: list[str]) -> None:
    if pythons.running() not in wanted:
        raise UserError(
            f"Stack Wars needs Python {' or '.join(wanted)}; {sys.executable} is {sys.version.split()[0]}. "
            f"Install one of them, or give its path: `make setup PYTHON=/path/to/python{wanted[0]}`."
        )


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Holds a file lock, so that no two processes make the same environment at once. Waits for another process."""
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
    if folder.is_symlink():
        folder.unlink()
    elif folder.exists():
        shutil.rmtree(folder)


def size(folder: Path) -> int:
    return sum(path.lstat().st_size for path in folder.rglob("*"))


def prune() -> list[Path]:
    removed = []
    for target in (path.name for path in (environments.ROOT / "docker" / "locks").iterdir() if path.is_dir()):
        known = [*names(target), *variants(target)]
        current = {place(lock) for name in known for lock in all_locks(name, target)}
        for folder in sorted((environments.ROOT / ".environments" / target).glob("*-*")):
            if folder.is_dir() and folder not in current:
                remove(folder)
                removed.append(folder)
    return removed
