"""Locked virtual environments: made from hashed locks by uv, reused by lock hash, never half-made.

Standard library only: `python3 -m suite.environments orchestrator` runs before any environment exists.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from suite.errors import UserError, unknown

ROOT = Path(__file__).parent.parent
# PyTorch publishes its CPU build on an index of its own; UV_FIND_LINKS or PIP_FIND_LINKS come first.
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
PYTHON_VERSION = "3.11"
PLATFORM = "x86_64-manylinux_2_28"
MARKER = ".lock-sha256"


@dataclass(frozen=True, slots=True)
class Environment:
    """An environment ready to run."""

    name: str
    python: Path
    lock: Path
    lock_sha256: str


def names(target: str) -> list[str]:
    """The environments that a target has locks for, the quickest to make first."""
    order = ["numpy", "jax", "torch", "tensorflow", "torch_xla", "torchax"]
    found = {path.stem for path in (ROOT / "docker" / "locks" / target).glob("*.in")}
    return [name for name in order if name in found] + sorted(found - set(order))


def lock_path(name: str, target: str) -> Path:
    """The hashed lock of an environment; the orchestrator has one for all targets."""
    folder = ROOT / "docker" / "locks"
    return folder / "orchestrator.txt" if name == "orchestrator" else folder / target / f"{name}.txt"


def lock_sha256(name: str, target: str) -> str | None:
    """sha256 of the lock; None where there is none."""
    path = lock_path(name, target)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def place(name: str, target: str) -> Path:
    """Where an environment lives: `.venv`, or a folder named after its lock."""
    if name == "orchestrator":
        return ROOT / ".venv"
    return ROOT / ".environments" / target / f"{name}-{(lock_sha256(name, target) or 'none')[:12]}"


def status(name: str, target: str) -> str:
    """`ready`, `missing`, `half-made` (or of another lock), or `no lock`."""
    digest, folder = lock_sha256(name, target), place(name, target)
    if digest is None:
        return "no lock"
    if not folder.exists():
        return "missing"
    marker = folder / MARKER
    whole = marker.is_file() and marker.read_text(encoding="ascii").strip() == digest
    return "ready" if whole and (folder / "bin" / "python").exists() else "half-made"


def ensure(name: str, target: str = "cpu") -> Environment:
    """An environment made from its lock, or found made. Raises UserError; nothing half-made stays behind."""
    digest, lock, folder = lock_sha256(name, target), lock_path(name, target), place(name, target)
    if digest is None:
        locks = [path.stem for path in lock.parent.glob("*.txt")]
        raise unknown(f"lock for environment on {target}", name, locks)
    with only_one(folder):
        found = status(name, target)
        if found != "ready":
            if found == "half-made":
                say(f"{folder.name} is half-made or of another lock: it is made again")
            make(name, target, folder, lock, digest)
    return Environment(name, folder / "bin" / "python", lock, digest)


def make(name: str, target: str, folder: Path, lock: Path, digest: str) -> None:
    """Install a lock into a new environment, byte code compiled; the marker is written last."""
    started = time.monotonic()
    say(f"Making environment {name} from {lock.relative_to(ROOT)} ...")
    uv = find_uv()
    if name != "orchestrator":  # the orchestrator's own Python may be what runs this
        shutil.rmtree(folder, ignore_errors=True)
    (folder / MARKER).unlink(missing_ok=True)
    try:
        if not (folder / "bin" / "python").exists():
            run(lock, [uv, "venv", "--quiet", "--python", sys.executable, str(folder)])
        sync = [uv, "pip", "sync", "--quiet", "--python", str(folder / "bin" / "python"), "--require-hashes",
                "--compile-bytecode", str(lock)]  # fmt: skip
        run(lock, sync + wheel_source(name, target))
        if name == "orchestrator":
            install_project(uv, folder, lock)
        (folder / MARKER).write_text(digest + "\n", encoding="ascii")
    except BaseException:
        if name != "orchestrator":
            shutil.rmtree(folder, ignore_errors=True)
        raise
    say(f"Made {name} in {time.monotonic() - started:.1f} s")


def install_project(uv: str, folder: Path, lock: Path) -> None:
    """The project itself, editable; last, because its `invoke` command replaces the library's own."""
    run(lock, [uv, "pip", "install", "--quiet", "--python", str(folder / "bin" / "python"), "--no-deps",
               "--no-build-isolation", "--reinstall-package", "stack-wars", "--editable", str(ROOT)])  # fmt: skip


def find_uv() -> str:
    """uv from PATH or from `.venv`; else pip puts it into a new `.venv`."""
    own = ROOT / ".venv" / "bin" / "uv"
    found = shutil.which("uv") or (str(own) if own.exists() else None)
    if found is None:
        say("uv isn't installed: pip gets it into .venv")
        lock = lock_path("orchestrator", "cpu")
        pinned = re.search(r"^uv==\S+", lock.read_text(encoding="utf-8"), re.MULTILINE)
        run(lock, [sys.executable, "-m", "venv", str(ROOT / ".venv")])
        run(lock, [str(ROOT / ".venv" / "bin" / "python"), "-m", "pip", "install", "--quiet",
                   pinned[0] if pinned else "uv"])  # fmt: skip
        found = str(own)
    return found


def wheel_source(name: str, target: str) -> list[str]:
    """Where the CPU build of PyTorch comes from: for that lock alone."""
    if (name, target) != ("torch", "cpu"):
        return []
    links = os.environ.get("UV_FIND_LINKS") or os.environ.get("PIP_FIND_LINKS")
    if links:
        return ["--find-links", links]
    return ["--extra-index-url", TORCH_CPU_INDEX, "--index-strategy", "unsafe-best-match"]


def run(lock: Path, command: list[str]) -> None:
    """Run an installer's command. Raises UserError with its own message."""
    dropped = ("PYTHONDONTWRITEBYTECODE", "VIRTUAL_ENV", "UV_FIND_LINKS")
    environ = {name: value for name, value in os.environ.items() if name not in dropped}
    try:
        done = subprocess.run(
            command, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except OSError as broken:
        raise UserError(f"{command[0]} can't be run: {broken}") from broken
    if done.returncode != 0:
        told = (done.stderr or done.stdout).strip()
        raise UserError(
            f"Installing {lock} failed; nothing of it is left.\n{told}\n"
            "Check the network and the free disk space; `invoke doctor` says what this machine lacks."
        )


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold a file lock, so that two processes never make the same environment at once."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with (folder.parent / f".{folder.name}.lock").open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield


def prune() -> list[Path]:
    """Remove environments whose lock isn't the current one; returns them."""
    removed = []
    for target in ("cpu", "cuda", "tpu"):
        current = {place(name, target) for name in names(target)}
        for folder in (ROOT / ".environments" / target).glob("*-*"):
            if folder.is_dir() and folder not in current:
                shutil.rmtree(folder)
                removed.append(folder)
    return removed


def compile_lock(name: str, target: str = "cpu") -> Path:
    """Regenerate a lock from its .in file: hashes, no address, no header."""
    lock = lock_path(name, target)
    source = lock.with_suffix(".in")
    if not source.is_file():
        raise unknown(f"environment on {target}", name, [*names(target), "orchestrator"])
    links = wheel_source(name, target)
    run(lock, [find_uv(), "pip", "compile", "--quiet", "--upgrade", "--generate-hashes", "--no-header",
               "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--python-version", PYTHON_VERSION,
               "--python-platform", PLATFORM, str(source), "--output-file", str(lock), *links])  # fmt: skip
    text = lock.read_text(encoding="utf-8")
    if re.search(r"https?://|^--", text, re.MULTILINE):
        raise UserError(f"{lock} names an address or an index: it must not.")
    return lock


def say(text: str) -> None:
    """A line of progress."""
    print(text, file=sys.stderr, flush=True)


def main(arguments: list[str]) -> int:
    """`python3 -m suite.environments NAME ...`: make environments on a machine that has none."""
    try:
        for name in arguments or ["orchestrator"]:
            ensure(name)
    except UserError as refused:
        say(str(refused))
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
