"""Hashed locks: which there are, what identifies them, and which Python each is for.

Standard library only.
"""

from __future__ import annotations

import hashlib
import re
from pathlib import Path

from suite import environments

ORCHESTRATOR = "orchestrator"
# A list of requirements may give its reason behind it; in a lock it is the first line.
PYTHON = re.compile(r"^# Python (3\.\d+)\b", re.MULTILINE)
FIRST_PYTHON = "3.11"  # of the locks that had no such line yet: sets that were archived then have them
BORROWED: dict[tuple[str, str], Path] = {}  # by environment and target, in this process: of a set that is reproduced
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
    return {path.stem for suffix in ("in", "txt", "toml") for path in folder.glob(f"*.{suffix}")}


def lock_path(name: str, target: str) -> Path:
    """The hashed lock of an environment, its own or a borrowed one; the orchestrator has one for all targets."""
    return BORROWED.get((name, target)) or beside(owner(name, target), target, "txt")


def owner(name: str, target: str) -> str:
    """Whose lock an environment has: its own, or, for a variant that is flags alone, that of what it varies."""
    flags_alone = flags_path(name, target).is_file() and not requirements_path(name, target).is_file()
    return name.partition("@")[0] if flags_alone else name


def requirements_path(name: str, target: str) -> Path:
    """What a lock is made from."""
    return beside(name, target, "in")


def flags_path(name: str, target: str) -> Path:
    """Where a variant says which variables its processes have."""
    return beside(name, target, "toml")


def beside(name: str, target: str, suffix: str) -> Path:
    """A file of an environment's; `with_suffix` would take the version of `jax@0.10` for one."""
    folder = environments.ROOT / "docker" / "locks"
    return folder / f"{name}.{suffix}" if name == ORCHESTRATOR else folder / target / f"{name}.{suffix}"


def python_of(name: str, target: str) -> str:
    """The Python that a lock is for, like `3.13`."""
    path = lock_path(name, target)
    return python_said(path.read_text(encoding="utf-8") if path.is_file() else "")


def python_said(text: str) -> str:
    """By the line of a lock, or of its list of requirements."""
    found = PYTHON.search(text)
    return found[1] if found else FIRST_PYTHON


def pins(text: str) -> dict[str, str]:
    """Versions by package, and of Python, by the text of a lock."""
    return {"python": python_said(text)} | dict(re.findall(r"^([\w.-]+)==(\S+)", text, re.MULTILINE))


def lock_sha256(name: str, target: str) -> str | None:
    """sha256 of the lock; None where there is none."""
    path = lock_path(name, target)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
