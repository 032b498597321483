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
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from suite.errors import UserError, unknown

ROOT = Path(__file__).resolve().parent.parent
# PyTorch publishes its CPU build on an index of its own; UV_FIND_LINKS or PIP_FIND_LINKS come first.
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
PYTHON_VERSION = (3, 11)
ORCHESTRATOR = "orchestrator"
MARKER = ".lock-sha256"  # written last: without it, or with another hash, an environment isn't whole
QUICKEST_FIRST = ("numpy", "jax", "torch", "tensorflow", "torch_xla", "torchax")

# What a person can do about an installer's failure, by the words that the installer has for it.
REMEDIES = (
    ("hash mismatch", "A file on offer isn't the one that was locked: it was refused. Restore an edited lock."),
    ("no space left", "The disk is full: a target's environments take about 10 GB, and uv's cache as much again."),
    ("download.pytorch.org", "UV_FIND_LINKS=DIR (or PIP_FIND_LINKS=DIR) takes PyTorch's CPU wheel from a folder."),
    ("", "Check the network and the free disk space; `invoke doctor` says what this machine lacks."),
)  # fmt: skip


@dataclass(frozen=True)  # no slots: an older Python must get as far as being refused
class Environment:
    """An environment ready to run."""

    name: str
    python: Path
    lock: Path
    lock_sha256: str


def names(target: str) -> list[str]:
    """The stack environments of a target, the quickest to make first."""
    folder = ROOT / "docker" / "locks" / target
    found = {path.stem for suffix in ("in", "txt") for path in folder.glob(f"*.{suffix}")}
    return [name for name in QUICKEST_FIRST if name in found] + sorted(found - set(QUICKEST_FIRST))


def lock_path(name: str, target: str) -> Path:
    """The hashed lock of an environment; the orchestrator has one for all targets."""
    folder = ROOT / "docker" / "locks"
    return folder / f"{name}.txt" if name == ORCHESTRATOR else folder / target / f"{name}.txt"


def lock_sha256(name: str, target: str) -> str | None:
    """sha256 of the lock; None where there is none."""
    path = lock_path(name, target)
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.is_file() else None


def place(name: str, target: str) -> Path:
    """Where an environment lives: `.venv`, or a folder named after its lock, so that two locks live side by side."""
    if name == ORCHESTRATOR:
        return ROOT / ".venv"
    return ROOT / ".environments" / target / f"{name}-{(lock_sha256(name, target) or 'none')[:12]}"


def status(name: str, target: str) -> str:
    """`ready`, `missing`, `half-made` (or of another lock, or its Python is gone), or `no lock`."""
    digest, folder = lock_sha256(name, target), place(name, target)
    if digest is None:
        return "no lock"
    if not os.path.lexists(folder):
        return "missing"
    marker = folder / MARKER
    whole = marker.is_file() and marker.read_text(encoding="ascii", errors="replace").strip() == digest
    return "ready" if whole and (folder / "bin" / "python").exists() else "half-made"


def ensure(name: str, target: str = "cpu") -> Environment:
    """An environment made from its lock, or found made. Raises UserError; nothing half-made stays behind."""
    digest, lock = lock_sha256(name, target), lock_path(name, target)
    if digest is None:
        raise unknown(f"lock for target {target} of environment", name, [*names(target), ORCHESTRATOR])
    folder = place(name, target)
    made = Environment(name, folder / "bin" / "python", lock, digest)
    if status(name, target) != "ready":
        try:
            with only_one(folder):
                # Asked again: another process may have made it while this one waited.
                found = status(name, target)
                if found != "ready":
                    make(made, folder, wheel_source(name, target), again=found == "half-made")
        except OSError as broken:
            raise UserError(f"Environment {name} can't be made in {folder}: {broken}.\n{remedy(str(broken))}") from None
    return made


def make(wanted: Environment, folder: Path, source: Sequence[str], *, again: bool) -> None:
    """Install a lock into a new environment, byte code compiled; the marker is written last."""
    refuse_python()
    if folder.resolve() == Path(sys.prefix).resolve():
        raise UserError(f"{folder} isn't made from {wanted.lock} as it is now. `make setup` makes it again.")
    started = time.monotonic()
    if again:
        say(f"{folder} is half-made or of another lock: it is removed and made again")
    uv = find_uv(folder)
    # One line in two halves: the first tells a person with a slow network what is going on.
    say(f"Making environment {wanted.name} from {wanted.lock.relative_to(ROOT)} ... ", end="")
    failure = f"{wanted.lock} could not be installed; nothing of it is left behind."
    remove(folder)
    try:
        run([uv, "venv", "--no-project", "--python", sys.executable, str(folder)], failure)
        run([uv, "pip", "sync", "--python", str(wanted.python), "--require-hashes", "--compile-bytecode",
             *source, str(wanted.lock)], failure)  # fmt: skip
        if wanted.name == ORCHESTRATOR:
            # Last, because the project's `invoke` command replaces the library's own.
            run([uv, "pip", "install", "--python", str(wanted.python), "--no-deps", "--no-build-isolation",
                 "--editable", str(ROOT)], failure)  # fmt: skip
        (folder / MARKER).write_text(wanted.lock_sha256 + "\n", encoding="ascii")
    except BaseException:  # Ctrl-C as well: no later run may take half an environment for a whole one
        say("failed")
        remove(folder)
        raise
    say(f"{time.monotonic() - started:.1f} s, {size(folder) / 1e6:.0f} MB")


def refuse_python() -> None:
    """Raises UserError under any Python but the one that the locks are for."""
    if sys.version_info[:2] != PYTHON_VERSION:
        wanted, found = ".".join(map(str, PYTHON_VERSION)), sys.version.split()[0]
        raise UserError(
            f"Stack Wars needs Python {wanted}; {sys.executable} is {found}. "
            f"Install Python {wanted}, or say where it is: `make setup PYTHON=/path/to/python{wanted}`."
        )


def find_uv(doomed: Path) -> str:
    """uv from PATH, from `.venv`, or got by pip; never the one inside the folder that is about to be removed."""
    for found in uv_places():
        if doomed.resolve() not in Path(found).resolve().parents and runs(found):
            return found
    tools = ROOT / ".environments" / "uv"
    say("uv isn't installed: pip gets it")
    failure = f"uv is missing, and pip could not get it into {tools}."
    remove(tools)
    try:
        run([sys.executable, "-m", "venv", str(tools)], failure)
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write(pinned("uv", lock_path(ORCHESTRATOR, "cpu")))
            file.flush()
            run([str(tools / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "-r", file.name],
                failure)  # fmt: skip
    except BaseException:
        remove(tools)
        raise
    return str(tools / "bin" / "uv")


def uv_places() -> list[str]:
    """Where uv may be, the user's own first."""
    own = (ROOT / ".venv" / "bin" / "uv", ROOT / ".environments" / "uv" / "bin" / "uv")
    return [str(found) for found in (shutil.which("uv"), *own) if found]


def runs(uv: str) -> bool:
    """Whether this uv starts: what PATH finds may be a version manager's stand-in for nothing."""
    try:
        return subprocess.run([uv, "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def pinned(package: str, lock: Path) -> str:
    """A package's own lines of a lock, hashes included (pip then insists on them); its bare name without a lock."""
    text = lock.read_text(encoding="utf-8") if lock.is_file() else ""
    found = re.search(rf"^{re.escape(package)}==(.*\\\n)*.*$", text, re.MULTILINE)
    return (found[0] if found else package) + "\n"


def wheel_source(name: str, target: str, links: Sequence[str] | None = None) -> list[str]:
    """uv's options that say where the CPU build of PyTorch comes from: for its two locks alone.

    `links` are folders (or addresses) of wheels, by default those of the environment's variables.
    """
    if (name.partition("@")[0], target) not in (("torch", "cpu"), ("oracle", "test")):
        return []
    links = link_folders() if links is None else links
    if links:
        return [word for link in links for word in ("--find-links", link)]
    # That index has old versions of other packages too; the lock's hashes say what is taken from where.
    return ["--index", TORCH_CPU_INDEX, "--index-strategy", "unsafe-best-match"]


def link_folders() -> list[str]:
    """Where a site keeps wheels of its own: UV_FIND_LINKS, else PIP_FIND_LINKS."""
    named = os.environ.get("UV_FIND_LINKS") or os.environ.get("PIP_FIND_LINKS") or ""
    return [link for link in re.split(r"[,\s]+", named) if link]


def run(command: Sequence[str], failure: str) -> str:
    """Run an installer's command; its standard output. Raises UserError with its own message."""
    # A shell's habits must not decide what is installed, nor whether byte code is: it halves the import times
    # that every measured process pays.
    dropped = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "VIRTUAL_ENV", "UV_FIND_LINKS", "UV_REQUIRE_HASHES")
    environ = {name: value for name, value in os.environ.items() if name not in dropped}
    done = subprocess.run(
        command, cwd=ROOT, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        told = (done.stderr or done.stdout).strip() or f"{command[0]} exited {done.returncode} without a word"
        told = re.sub(r"(\s+sha256:\w+){3,}", " one of the lock's hashes", told)  # there may be seventy
        package = re.search(r"`([\w.-]+)==[^`]+`|Because ([\w.-]+) was not found", told)
        about = f" The package: {package[1] or package[2]}." if package else ""
        raise UserError(f"{failure}{about}\n{told}\n{remedy(told)}")
    return done.stdout


def remedy(told: str) -> str:
    """What to do next about a failure."""
    return next(advice for words, advice in REMEDIES if words in told.lower())


@contextmanager
def only_one(folder: Path) -> Iterator[None]:
    """Hold a file lock, so that two processes never make the same environment at once."""
    locks = ROOT / ".environments" / "locks"
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
    for target in ("cpu", "cuda", "tpu", "test"):
        current = {place(name, target) for name in names(target)}
        for folder in sorted((ROOT / ".environments" / target).glob("*-*")):
            if folder.is_dir() and folder not in current:
                remove(folder)
                removed.append(folder)
    return removed


def say(text: str, end: str = "\n") -> None:
    """A line of progress, on standard error."""
    print(text, end=end, file=sys.stderr, flush=True)


def main(arguments: Sequence[str]) -> int:
    """`python3 -m suite.environments NAME ...`: make environments on a machine that has none. The exit code."""
    if Path(sys.prefix).resolve() == (ROOT / ".venv").resolve():
        # In an activated `.venv`, python3 is the very environment that may have to be removed.
        python = str(Path(sys.base_prefix) / "bin" / f"python{PYTHON_VERSION[0]}.{PYTHON_VERSION[1]}")
        if Path(python).exists():
            os.execv(python, [python, "-m", "suite.environments", *arguments])
    try:
        for name in arguments or [ORCHESTRATOR]:
            ensure(name)
    except UserError as refused:
        say(str(refused))
        return 2
    except KeyboardInterrupt:
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
