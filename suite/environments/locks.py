"""The hashed locks of environments: docker/locks/<target>/<environment>.txt, with the Python in the first line.

An environment may have several locks, each for one Python: `jax.txt` is the newest, `jax-py3.11.txt` an older one.
Beside them are the lists of requirements (`.in`) and, of a variant like `jax@fastmath`, the flags (`.toml`). Standard
library only.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from suite import environments

ORCHESTRATOR = "orchestrator"
# A list of requirements names all Pythons for which it is resolved, the first choice first. The orchestrator has one
# lock for all of its Pythons, every other lock is for one.
PYTHONS = re.compile(r"^# Python (3\.\d+(?:, 3\.\d+)*)\b", re.MULTILINE)
FIRST_PYTHON = "3.11"  # the Python of locks without such a line, which older sets have
FALLBACK = re.compile(r"-py(3\.\d+)$")


@dataclass(frozen=True)  # no slots: a Python without them must be able to import this, and gets a clear message
class Locks:
    """The lock and the environment variables that each environment of a target has in one run.

    By default these are the newest lock and the flags file of this checkout; `chosen` and `flags` replace them. A run
    chooses an older lock if this machine lacks the newest lock's Python. To complete or reproduce a result set, a run
    takes that set's locks and flags.
    """

    target: str
    chosen: Mapping[str, Path] = field(default_factory=dict)  # by environment
    flags: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # variables by name, by environment

    def path(self, name: str) -> Path:
        return self.chosen.get(name) or self.chosen.get(owner(name, self.target)) or lock_path(name, self.target)

    def sha256(self, name: str) -> str | None:
        return sha256(self.path(name))


def names(target: str) -> list[str]:
    """Returns the environments of a target, without variants. The one with the shortest lock comes first, because it
    takes the least time to make."""

    def length(name: str) -> tuple[float, str]:
        lock = lock_path(name, target)
        return (lock.stat().st_size if lock.is_file() else math.inf), name

    return sorted((name for name in kept(target) if "@" not in name), key=length)


def variants(target: str) -> list[str]:
    """Returns the variants of a target's environments, like `jax@0.10`, which have another lock or other flags."""
    return sorted(name for name in kept(target) if "@" in name)


def kept(target: str) -> set[str]:
    """Returns every environment and variant of a target that has requirements, a lock or flags."""
    folder = environments.ROOT / "docker" / "locks" / target
    stems = {path.stem for suffix in ("in", "txt", "toml") for path in folder.glob(f"*.{suffix}")}
    return {FALLBACK.sub("", stem) for stem in stems}


def lock_path(name: str, target: str) -> Path:
    """Returns the path of an environment's newest lock."""
    return beside(owner(name, target), target, "txt")


def all_locks(name: str, target: str) -> list[Path]:
    """Returns every lock of an environment, the newest first: `jax.txt`, then `jax-py3.12.txt`, `jax-py3.11.txt`."""
    newest = lock_path(name, target)
    fallbacks = [path for path in newest.parent.glob(f"{newest.stem}-py3.*.txt") if FALLBACK.search(path.stem)]
    return [newest, *sorted(fallbacks, key=lambda path: version_key(python_of_lock(path)), reverse=True)]


def version_key(version: str) -> list[int]:
    """Returns a sort key by which `3.9` comes before `3.13`."""
    return [int(part) for part in re.findall(r"\d+", version)]


def lock_of_digest(name: str, target: str, digest: str) -> Path | None:
    return next((lock for lock in all_locks(name, target) if sha256(lock) == digest), None)


def owner(name: str, target: str) -> str:
    """Returns the name whose lock is used: `name` itself, or the environment's name for a variant with only flags."""
    flags_alone = beside(name, target, "toml").is_file() and not beside(name, target, "in").is_file()
    return name.partition("@")[0] if flags_alone else name


def source_of(lock: Path) -> Path:
    """Returns the path of the list of requirements from which a lock is made. A lock for an older Python may have its
    own list; otherwise it shares the newest lock's."""
    stem = lock.name.removesuffix(".txt")
    own = lock.with_name(f"{stem}.in")
    return own if own.is_file() else lock.with_name(f"{FALLBACK.sub('', stem)}.in")


def beside(name: str, target: str, suffix: str) -> Path:
    """Returns the path of an environment's file. `Path.with_suffix` would take the `.10` of `jax@0.10` for a suffix."""
    folder = environments.ROOT / "docker" / "locks"
    return folder / f"{name}.{suffix}" if name == ORCHESTRATOR else folder / target / f"{name}.{suffix}"


def python_of(name: str, target: str) -> str:
    return python_of_lock(lock_path(name, target))


def python_of_lock(lock: Path) -> str:
    return pythons_of_lock(lock)[0]


def pythons_of_lock(lock: Path) -> list[str]:
    return pythons_named(lock.read_text(encoding="utf-8") if lock.is_file() else "")


def pythons_named(text: str) -> list[str]:
    """Returns the Pythons that a lock or a list of requirements names, the first choice first."""
    named = PYTHONS.search(text)
    return named[1].split(", ") if named else [FIRST_PYTHON]


def pins(text: str) -> dict[str, str]:
    """Returns the versions in the text of a lock as {package: version}; `python` has that of Python."""
    return {"python": pythons_named(text)[0]} | dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE))


def lock_sha256(name: str, target: str) -> str | None:
    return sha256(lock_path(name, target))


def sha256(lock: Path) -> str | None:
    return hashlib.sha256(lock.read_bytes()).hexdigest() if lock.is_file() else None
