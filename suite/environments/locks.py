"""The hashed locks of environments: docker/locks/<target>/<environment>.txt, with the Python in the first line.

An environment may have several locks, each for one Python: `jax.txt` is the newest, `jax-py3.11.txt` an older one.
Beside them are the lists of requirements (`.in`) and, of a variant like `jax@fastmath`, the flags (`.toml`). A lock has
the hashes of the wheels for x86-64 and aarch64 alike; where a package isn't for both, the folder `aarch64/` has a lock
of the same name, which an aarch64 machine takes instead. Standard library only.
"""

from __future__ import annotations

import hashlib
import math
import platform
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from suite import environments
from suite.order import natural

ORCHESTRATOR = "orchestrator"
# A list of requirements names all Pythons for which it is resolved, the first choice first. The orchestrator has one
# lock for all of its Pythons, every other lock is for one.
PYTHONS = re.compile(r"^# Python (3\.\d+(?:, 3\.\d+)*)\b", re.MULTILINE)
FIRST_PYTHON = "3.11"  # the Python of locks without such a line, which older sets have
FALLBACK = re.compile(r"-py(3\.\d+)$")
X86, ARM = "x86_64", "aarch64"  # as the kernel names them; the folder of ARM's own locks has its name
# Environments that aarch64 can't have, and why.
NOT_ON_ARM = {
    "torch_xla": "PyTorch/XLA has no wheel for aarch64, as of its last release, 2.9.0",
    "openvino": "OpenVINO's wheel for aarch64 needs glibc 2.35, newer than this suite's other wheels, as of 2026.4.1",
}

# The revisions in which this process asks a question, by variant. An old Python can't import revisions.py, which adds
# them.
REVISIONS: dict[str, Any] = {}


# No slots, here and below: a Python without them must be able to import this, and gets a clear message.
@dataclass(frozen=True)
class Lock:
    """A lock of an environment or of a variant, like `jax@0.10`. There needn't be such a file."""

    name: str
    target: str
    path: Path

    @property
    def exists(self) -> bool:
        return self.path.is_file()

    @property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8") if self.exists else ""

    @property
    def sha256(self) -> str | None:
        return hashlib.sha256(self.path.read_bytes()).hexdigest() if self.exists else None

    @property
    def pythons(self) -> list[str]:
        """The Pythons that it is for: several only of the orchestrator's."""
        return pythons_named(self.text)

    @property
    def python(self) -> str:
        return self.pythons[0]

    @property
    def pins(self) -> dict[str, str]:
        """The versions as {package: version}; `python` has that of Python. Empty if there is no file."""
        packages = re.findall(r"^([\w.-]+)==(\S+)", self.text, re.MULTILINE)
        return {"python": self.python, **dict(packages)} if self.exists else {}

    @property
    def source(self) -> Path:
        """The list of requirements from which it is made. A lock for an older Python may have its own; otherwise it
        shares the newest lock's."""
        stem = self.path.name.removesuffix(".txt")
        own = self.path.with_name(f"{stem}.in")
        return own if own.is_file() else self.path.with_name(f"{FALLBACK.sub('', stem)}.in")


@dataclass(frozen=True)
class Locks:
    """The lock and the environment variables that each environment of a target has in one run.

    By default these are the newest lock and the flags file of this checkout; `chosen` and `flags` replace them. A run
    chooses an older lock if this machine lacks the newest lock's Python. To complete or reproduce a result set, a run
    takes that set's locks and flags.
    """

    target: str
    chosen: Mapping[str, Path] = field(default_factory=dict)  # by environment
    flags: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # variables by name, by environment

    def of(self, name: str) -> Lock:
        chosen = self.chosen.get(name) or self.chosen.get(owner(name, self.target))
        return Lock(name, self.target, chosen) if chosen else newest(name, self.target)


def names(target: str) -> list[str]:
    """Returns the environments of a target that this machine can have, without variants. The one with the shortest lock
    comes first, because it takes the least time to make."""

    def length(name: str) -> tuple[float, str]:
        lock = newest(name, target)
        return (lock.path.stat().st_size if lock.exists else math.inf), name

    return sorted((name for name in kept(target) if "@" not in name and not impossible(name)), key=length)


def variants(target: str) -> list[str]:
    """Returns the variants of a target's environments, like `jax@0.10`, which have another lock or other flags."""
    return sorted((name for name in kept(target) if "@" in name), key=natural)


def kept(target: str) -> set[str]:
    folder = environments.ROOT / "docker" / "locks" / target
    stems = {path.stem for suffix in ("in", "txt", "toml") for path in folder.glob(f"*.{suffix}")}
    return {FALLBACK.sub("", stem) for stem in stems}


def impossible(name: str) -> str | None:
    """Returns why no machine with this one's processor can have an environment; None if it can."""
    return NOT_ON_ARM.get(name.partition("@")[0]) if platform.machine() == ARM else None


def here(lock: Path) -> Path:
    """Returns the lock that this machine takes in place of one for x86-64: mostly the same."""
    own = lock.parent / ARM / lock.name
    return own if platform.machine() == ARM and own.is_file() else lock


def newest(name: str, target: str) -> Lock:
    return Lock(name, target, here(beside(owner(name, target), target, "txt")))


def all_locks(name: str, target: str) -> list[Lock]:
    """Returns every lock of an environment, the newest first: `jax.txt`, then `jax-py3.12.txt`, `jax-py3.11.txt`."""
    first, shared = newest(name, target), beside(owner(name, target), target, "txt")
    paths = [path for path in shared.parent.glob(f"{shared.stem}-py3.*.txt") if FALLBACK.search(path.stem)]
    fallbacks = [Lock(name, target, here(path)) for path in paths]
    return [first, *sorted(fallbacks, key=lambda lock: version_key(lock.python), reverse=True)]


def version_key(version: str) -> list[int]:
    """Returns a sort key by which `3.9` comes before `3.13`."""
    return [int(part) for part in re.findall(r"\d+", version)]


def owner(name: str, target: str) -> str:
    """Returns the name whose lock is used: `name` itself, or the environment's name for a variant with only flags, and
    for a revision of what a question imports."""
    if name.partition("@")[2] in REVISIONS:
        return name.partition("@")[0]
    flags_alone = beside(name, target, "toml").is_file() and not beside(name, target, "in").is_file()
    return name.partition("@")[0] if flags_alone else name


def beside(name: str, target: str, suffix: str) -> Path:
    """Returns the path of an environment's file. `Path.with_suffix` would take the `.10` of `jax@0.10` for a suffix."""
    folder = environments.ROOT / "docker" / "locks"
    return folder / f"{name}.{suffix}" if name == ORCHESTRATOR else folder / target / f"{name}.{suffix}"


def pythons_named(text: str) -> list[str]:
    """Returns the Pythons that a lock or a list of requirements names, the first choice first."""
    named = PYTHONS.search(text)
    return named[1].split(", ") if named else [FIRST_PYTHON]
