"""Checks what a result set from somebody else would make this machine install and run: the set's locks, and the
environment variables of its variants.

Both are only read, never executed. A lock may have only packages with version and hash, no options for the installer.
A lock is ours if this project has its versions now, or had the lock itself once. A variable is ours if this project's
variant of the same name gives it the same value, and harmless if it can only change how numbers are computed.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from suite.environments.checkout import git
from suite.environments.locks import Lock, all_locks
from suite.environments.variants import flags
from suite.errors import Damaged
from suite.guard import plain_files

LOCK_BYTES_MAX = 4 * 2**20  # our largest lock of an environment has a quarter of a MiB
# The lines of a lock as uv writes them: no address, path, option, index, link, marker or extra.
HEADER = re.compile(r"#.*")
PACKAGE = re.compile(r"[a-z0-9][a-z0-9._-]*==[0-9A-Za-z][0-9A-Za-z.!+_-]* \\", re.ASCII)
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?", re.ASCII)
# Variables that can neither load code nor write files, each with the values that it may have.
NUMBER, TRUTH = r"\d{1,9}(\.\d{1,9})?", r"true|false"
HARMLESS = {
    "XLA_FLAGS": re.compile(rf"(--xla_(cpu|gpu|tpu)_\w+=({TRUTH}|{NUMBER})(\s+|$))+", re.ASCII),
    "TF_ENABLE_ONEDNN_OPTS": re.compile(r"[01]"),
    "NVIDIA_TF32_OVERRIDE": re.compile(r"[01]"),
} | dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), re.compile(NUMBER, re.ASCII))


def check_lock(lock: Path) -> None:
    """Raises Damaged, which names the line, if a lock has anything but packages with versions and hashes."""
    try:
        data = plain_files.read(lock, LOCK_BYTES_MAX)
    except OSError as broken:
        raise Damaged(f"{lock} can't be read: {broken.strerror}.") from None
    # Split only at newlines, as an installer does. Other characters at which `splitlines` would split are refused.
    allowed: Collection[re.Pattern[str]] = (HEADER, PACKAGE)
    for number, line in enumerate(data.decode("ascii", errors="replace").removesuffix("\n").split("\n"), 1):
        if not any(pattern.fullmatch(line) for pattern in allowed) or not (line.isascii() and line.isprintable()):
            raise Damaged(
                f"{lock}, line {number}: {line[:100]!r} isn't allowed in a lock. A lock has only packages with "
                "version and sha256, no addresses, paths or options."
            )
        allowed = (HASH,) if line.endswith(" \\") and not line.startswith("#") else (HEADER, PACKAGE)
    if allowed == (HASH,):
        raise Damaged(f"{lock} ends in the middle of a package.")


def ours_for(lock: Lock) -> Lock | None:
    """Returns this checkout's lock with the same Python and versions. It is installed in place of a set's: its hashes
    are our own, and its environment is mostly made already."""
    return next((ours for ours in all_locks(lock.name, lock.target) if ours.exists and ours.pins == lock.pins), None)


def is_ours(lock: Lock) -> bool:
    """Whether this checkout has a lock's versions, or its git history has the lock itself."""
    if ours_for(lock):
        return True
    blob = git("hash-object", "--no-filters", "--", str(lock.path.absolute())).strip()
    return bool(blob and git("log", "-1", "--format=%H", f"--find-object={blob}", "--", "docker/locks").strip())


def differences(lock: Lock) -> Iterator[str]:
    """Yields a line, like `jax 0.10.2 → 0.9.9`, for each package in which `lock` differs from our lock for the same
    Python, or from our newest lock if we have none for it. Our version is on the left."""
    # After the locks of a variant `jax@0.10` come those of its environment `jax`.
    families = lock.name, lock.name.partition("@")[0]
    locks = [ours for family in families for ours in all_locks(family, lock.target) if ours.exists]
    like = next((ours for ours in locks if ours.python == lock.python), next(iter(locks), None))
    ours, theirs = like.pins if like else {}, lock.pins
    for package in sorted(ours.keys() | theirs.keys()):
        if ours.get(package) != theirs.get(package):
            yield f"{package} {ours.get(package, 'none')} → {theirs.get(package, 'none')}"
    if like and ours == theirs:
        yield "the same versions, but other files: the hashes differ"


def strange_variables(name: str, target: str, variables: Mapping[str, str]) -> dict[str, str]:
    ours = flags(name, target)
    return {
        variable: value
        for variable, value in variables.items()
        if ours.get(variable) != value and not (variable in HARMLESS and HARMLESS[variable].fullmatch(value))
    }
