"""What a set that may be a stranger's would have run here: its locks and the variables of its variants.

Both are read as data. A lock is packages by version and hash, and nothing that an installer could obey beside that; one
that this project has, or had in its history, is ours. A variable is ours if our variant of that name has it, and
harmless if all that it can do is compute otherwise.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from suite.environments.checkout import git
from suite.environments.locks import all_locks, pins, python_of_lock, sha256
from suite.environments.variants import flags
from suite.errors import Damaged
from suite.guard import plain_files

LOCK_BYTES_MAX = 4 * 2**20  # our largest has half of one
# A lock as uv writes it, line by line: no address, path, option, index, link, marker or extra.
HEADER = re.compile(r"#.*")
PACKAGE = re.compile(r"[a-z0-9][a-z0-9._-]*==[0-9A-Za-z][0-9A-Za-z.!+_-]* \\", re.ASCII)
HASH = re.compile(r"    --hash=sha256:[0-9a-f]{64}( \\)?", re.ASCII)
# Variables that can neither load code nor write files, and the values that they may have.
NUMBER, TRUTH = r"\d{1,9}(\.\d{1,9})?", r"true|false"
HARMLESS = {
    "XLA_FLAGS": re.compile(rf"(--xla_(cpu|gpu|tpu)_\w+=({TRUTH}|{NUMBER})(\s+|$))+", re.ASCII),
    "TF_ENABLE_ONEDNN_OPTS": re.compile(r"[01]"),
    "NVIDIA_TF32_OVERRIDE": re.compile(r"[01]"),
} | dict.fromkeys(("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"), re.compile(NUMBER, re.ASCII))


def check_lock(lock: Path) -> None:
    """Raises Damaged, naming the line, for a lock that says anything but packages, versions and hashes."""
    try:
        data = plain_files.read(lock, LOCK_BYTES_MAX)
    except OSError as broken:
        raise Damaged(f"{lock} can't be read: {broken.strerror}.") from None
    # Split as an installer does it: other characters that end a line for Python are no part of a lock.
    allowed: Collection[re.Pattern[str]] = (HEADER, PACKAGE)
    for number, line in enumerate(data.decode("ascii", errors="replace").removesuffix("\n").split("\n"), 1):
        if not any(pattern.fullmatch(line) for pattern in allowed) or not (line.isascii() and line.isprintable()):
            raise Damaged(
                f"{lock}, line {number}: {line[:100]!r} isn't what a lock has there. It lists packages by "
                "version and sha256 alone: an address, a path or an option isn't obeyed."
            )
        allowed = (HASH,) if line.endswith(" \\") and not line.startswith("#") else (HEADER, PACKAGE)
    if allowed == (HASH,):
        raise Damaged(f"{lock} ends in the middle of a package.")


def is_ours(lock: Path, name: str, target: str) -> bool:
    """Whether a lock is one that this project has, or had in its history as far as this checkout knows it."""
    if sha256(lock) in map(sha256, all_locks(name, target)):
        return True
    blob = git("hash-object", "--no-filters", "--", str(lock.absolute())).strip()
    return bool(blob and git("log", "-1", "--format=%H", f"--find-object={blob}", "--", "docker/locks").strip())


def differences(lock: Path, name: str, target: str) -> Iterator[str]:
    """What a lock has in place of our own for its Python, else of our newest: `jax 0.10.2 → 0.9.9`, a line each."""
    locks = [path for family in (name, name.partition("@")[0]) for path in all_locks(family, target) if path.is_file()]
    like = next((path for path in locks if python_of_lock(path) == python_of_lock(lock)), next(iter(locks), None))
    ours = pins(like.read_text(encoding="utf-8")) if like else {}
    theirs = pins(lock.read_text(encoding="ascii"))
    for package in sorted(ours.keys() | theirs.keys()):
        if ours.get(package) != theirs.get(package):
            yield f"{package} {ours.get(package, 'none')} → {theirs.get(package, 'none')}"
    if like and ours == theirs:
        yield "the same versions by other files (hashes)"


def strange_variables(name: str, target: str, variables: Mapping[str, str]) -> dict[str, str]:
    """Of a variant's variables, those that are neither ours nor harmless."""
    ours = flags(name, target)
    return {
        variable: value
        for variable, value in variables.items()
        if ours.get(variable) != value and not (variable in HARMLESS and HARMLESS[variable].fullmatch(value))
    }
