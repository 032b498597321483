"""Hashed locks: which there are, what identifies them, and which Python each is for.

Standard library only.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from suite import environments

ORCHESTRATOR = "orchestrator"
# The first line of a lock names its Python; a list of requirements names all that it is resolved for, the first choice
# first. The orchestrator's lock is one for all of them.
PYTHONS = re.compile(r"^# Python (3\.\d+(?:, 3\.\d+)*)\b", re.MULTILINE)
FIRST_PYTHON = "3.11"  # of the locks that had no such line yet: sets that were archived then have them
FALLBACK = re.compile(r"-py(3\.\d+)$")  # `jax-py3.11`: the lock of environment jax for machines without its Python
# By environment and target, in this process, in place of the newest lock: one whose Python this machine has, or that
# of a set that is completed or reproduced.
CHOSEN: dict[tuple[str, str], Path] = {}
QUICKEST_FIRST = ("numpy", "jax", "torch", "tensorflow", "torch_xla", "torchax")


def names(target: str) -> list[str]:
    """The stack environments of a target, the quickest to make first; without variants."""
    found = {name for name in kept(target) if "@" not in name}
    return [name for name in QUICKEST_FIRST if name in found] + sorted(found - set(QUICKEST_FIRST))


def variants(target: str) -> list[str]:
    """Environments that are another lock or other flags of one of those, like `jax@0.10`."""
    return sorted(name for name in kept(target) if "@" in name)


def kept(target: str) -> set[str]:
    """Whatever has requirements, a lock or flags."""
    folder = environments.ROOT / "docker" / "locks" / target
    stems = {path.stem for suffix in ("in", "txt", "toml") for path in folder.glob(f"*.{suffix}")}
    return {FALLBACK.sub("", stem) for stem in stems}


def lock_path(name: str, target: str) -> Path:
    """The hashed lock of an environment: the one chosen in this process, else the newest."""
    owning = owner(name, target)
    return CHOSEN.get((name, target)) or CHOSEN.get((owning, target)) or beside(owning, target, "txt")


def all_locks(name: str, target: str) -> list[Path]:
    """Every lock of an environment, the newest first: `jax.txt`, then `jax-py3.12.txt`, `jax-py3.11.txt`."""
    newest = beside(owner(name, target), target, "txt")
    fallbacks = [path for path in newest.parent.glob(f"{newest.stem}-py3.*.txt") if FALLBACK.search(path.stem)]
    return [newest, *sorted(fallbacks, key=lambda path: version_key(python_of_lock(path)), reverse=True)]


def version_key(version: str) -> list[int]:
    """Sorts `3.9` before `3.13`."""
    return [int(part) for part in re.findall(r"\d+", version)]


def take(name: str, target: str, digest: str | None) -> bool:
    """Choose, for this process, the lock of an environment that has this sha256; False where none has."""
    for lock in all_locks(name, target):
        if sha256(lock) == digest:
            CHOSEN[name, target] = lock
            return True
    return False


def owner(name: str, target: str) -> str:
    """Whose lock an environment has: its own, or, for a variant that is flags alone, that of what it varies."""
    flags_alone = flags_path(name, target).is_file() and not requirements_path(name, target).is_file()
    return name.partition("@")[0] if flags_alone else name


def requirements_path(name: str, target: str) -> Path:
    """What an environment's newest lock is made from."""
    return beside(name, target, "in")


def source_of(lock: Path) -> Path:
    """The list of requirements that a lock is made from: its own, or that of the newest, for another Python."""
    own = lock.with_name(f"{lock.name.removesuffix('.txt')}.in")
    return own if own.is_file() else own.with_name(f"{FALLBACK.sub('', own.name.removesuffix('.in'))}.in")


def flags_path(name: str, target: str) -> Path:
    """Where a variant says which variables its processes have."""
    return beside(name, target, "toml")


def beside(name: str, target: str, suffix: str) -> Path:
    """A file of an environment's; `with_suffix` would take the version of `jax@0.10` for one."""
    folder = environments.ROOT / "docker" / "locks"
    return folder / f"{name}.{suffix}" if name == ORCHESTRATOR else folder / target / f"{name}.{suffix}"


def python_of(name: str, target: str) -> str:
    """The Python that an environment's lock is for, like `3.13`; of the orchestrator's, the first choice."""
    return python_of_lock(lock_path(name, target))


def python_of_lock(lock: Path) -> str:
    """The same, of a file."""
    return pythons_of_lock(lock)[0]


def pythons_of_lock(lock: Path) -> list[str]:
    """All Pythons that a lock is for: the orchestrator's is for several."""
    return pythons_said(lock.read_text(encoding="utf-8") if lock.is_file() else "")


def pythons_said(text: str) -> list[str]:
    """The Pythons that a lock or a list of requirements names, the first choice first."""
    named = PYTHONS.search(text)
    return named[1].split(", ") if named else [FIRST_PYTHON]


def pins(text: str) -> dict[str, str]:
    """Versions by package, and of Python, by the text of a lock."""
    return {"python": pythons_said(text)[0]} | dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE))


def lock_sha256(name: str, target: str) -> str | None:
    """sha256 of the lock; None where there is none."""
    return sha256(lock_path(name, target))


def sha256(lock: Path) -> str | None:
    """sha256 of a file; None where there is none."""
    return hashlib.sha256(lock.read_bytes()).hexdigest() if lock.is_file() else None
