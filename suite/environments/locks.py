"""Hashed locks: which there are and what identifies them.

Standard library only.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

from suite import environments

PYTHON_VERSION = (3, 11)
ORCHESTRATOR = "orchestrator"
BORROWED: dict[tuple[str, str], Path] = {}  # by environment and target, in this process: of a set that is reproduced
QUICKEST_FIRST = ("numpy", "jax", "torch", "tensorflow", "torch_xla", "torchax")


def names(target: str) -> list[str]:
    """The stack environments of a target, the quickest to make first."""
    folder = environments.ROOT / "docker" / "locks" / target
    found = {path.stem for suffix in ("in", "txt") for path in folder.glob(f"*.{suffix}")}
    return [name for name in QUICKEST_FIRST if name in found] + sorted(found - set(QUICKEST_FIRST))


def lock_path(name: str, target: str) -> Path:
    """The hashed lock of an environment, its own or a borrowed one; the orchestrator has one for all targets."""
    if (name, target) in BORROWED:
        return BORROWED[name, target]
    folder = environments.ROOT / "docker" / "locks"
    return folder / f"{name}.txt" if name == ORCHESTRATOR else folder / target / f"{name}.txt"


def lock_sha256(name: str, target: str) -> str | None:
    """sha256 of the lock; None where there is none."""
    path = lock_path(name, target)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None
