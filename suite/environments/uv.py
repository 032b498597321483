"""uv and what it is told: found or got, where wheels come from, and what a person can do when it fails."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from suite import environments
from suite.environments import say
from suite.environments.locks import ORCHESTRATOR, all_locks, beside, lock_path, names, pythons_said, requirements_path
from suite.errors import COMMAND, UserError, unknown

# PyTorch publishes its CPU build on an index of its own; UV_FIND_LINKS or PIP_FIND_LINKS come first.
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"


# The oldest system that every wheel of a target runs on: libtpu's need a newer one.
PLATFORMS = {
    "cpu": "x86_64-manylinux_2_28",
    "cuda": "x86_64-manylinux_2_28",
    "tpu": "x86_64-manylinux_2_31",
    "test": "x86_64-manylinux_2_28",
    "cluster": "x86_64-manylinux_2_28",
}

# What a person can do about an installer's failure, by the words that the installer has for it.
REMEDIES = (
    ("hash mismatch", "A file on offer isn't the one that was locked: it was refused. Restore an edited lock."),
    ("no space left", "The disk is full: a target's environments take about 10 GB, and uv's cache as much again."),
    ("download.pytorch.org", "UV_FIND_LINKS=DIR (or PIP_FIND_LINKS=DIR) takes PyTorch's CPU wheel from a folder."),
    ("no solution found", "No releases fit together: change the list of requirements, or its Python."),
    ("", f"Check the network and the free disk space; `{COMMAND} doctor` says what this machine lacks."),
)


def present(doomed: Path | None = None) -> str | None:
    """uv from PATH, from `.venv`, or got earlier; never the one inside a folder that is about to be removed."""
    for found in uv_places():
        inside = doomed is not None and doomed.resolve() in Path(found).resolve().parents
        if not inside and runs(found):
            return found
    return None


def find_uv(doomed: Path | None = None) -> str:
    """The same, or got by pip."""
    if found := present(doomed):
        return found
    tools = environments.ROOT / ".environments" / "uv"
    say("uv isn't installed: pip gets it")
    failure = f"uv is missing, and pip could not get it into {tools}."
    shutil.rmtree(tools, ignore_errors=True)
    try:
        run([sys.executable, "-m", "venv", str(tools)], failure)
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write(pinned("uv", lock_path(ORCHESTRATOR, "cpu")))
            file.flush()
            run(
                [str(tools / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "-r", file.name],
                failure,
            )
    except BaseException:
        shutil.rmtree(tools, ignore_errors=True)
        raise
    return str(tools / "bin" / "uv")


def uv_places() -> list[str]:
    """Where uv may be, the user's own first."""
    own = (environments.ROOT / place / "bin" / "uv" for place in (".venv", ".environments/uv"))
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


def wheel_source(source: Path, links: Sequence[str] | None = None) -> list[str]:
    """uv's options that say where the CPU build of PyTorch comes from: for locks and requirements that name it alone.

    `links` are folders (or addresses) of wheels, by default those of the environment's variables.
    """
    if not source.is_file() or "+cpu" not in source.read_text(encoding="utf-8"):
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


def run(command: Sequence[str], failure: str, variables: Mapping[str, str] | None = None) -> str:
    """Run an installer's command, with some more variables; its standard output. Raises UserError with its message."""
    # A shell's habits must not decide what is installed, nor whether byte code is: it halves the import times
    # that every measured process pays.
    dropped = ("PYTHONDONTWRITEBYTECODE", "PYTHONPATH", "VIRTUAL_ENV", "UV_FIND_LINKS", "UV_REQUIRE_HASHES")
    environ = {name: value for name, value in os.environ.items() if name not in dropped} | dict(variables or {})
    done = subprocess.run(
        command,
        cwd=environments.ROOT,
        env=environ,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
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


def compile_locks(name: str, target: str = "cpu", *, upgrade: bool = False) -> list[Path]:
    """Regenerate an environment's locks from its lists of requirements, one for each Python that a list names (the
    orchestrator has one for all of its Pythons). Those that can't be resolved stay as they were.

    Versions stay as they are where the list admits them, a new variant's as in what it varies; with `upgrade` they are
    the newest.
    """
    newest = requirements_path(name, target)
    if not newest.is_file():
        raise unknown(f"list of requirements for target {target} of environment", name, [*names(target), ORCHESTRATOR])
    made = []
    for source in (newest, *sorted(newest.parent.glob(f"{name}-py3.*.in"))):
        pythons = pythons_said(source.read_text(encoding="utf-8"))
        if name == ORCHESTRATOR:
            made.append(compile_lock(name, target, source, pythons, source.with_name(f"{name}.txt"), upgrade=upgrade))
            continue
        for python in pythons:
            stem = name if source == newest and python == pythons[0] else f"{name}-py{python}"
            lock = source.with_name(f"{stem}.txt")
            made.append(compile_lock(name, target, source, [python], lock, upgrade=upgrade))
    for lock in set(all_locks(name, target)) - set(made):  # of a Python that no list names any more
        lock.unlink()
    return made


def compile_lock(name: str, target: str, source: Path, pythons: Sequence[str], lock: Path, *, upgrade: bool) -> Path:
    """One lock: its Pythons, hashes, no address. Keeps the old one on failure, and raises UserError."""
    # The orchestrator has one lock for all targets, and for all of its Pythons.
    platform = PLATFORMS["cpu" if name == ORCHESTRATOR else target]
    resolved_for = ["--universal"] if len(pythons) > 1 else ["--python-platform", platform]
    # Says which requirement of a requirement isn't wanted, and why.
    override = beside(name, target, "override")
    overridden = ["--override", str(override)] if override.is_file() else []
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder) / lock.name
        likes = (lock, beside(name, target, "txt"), lock_path(name.partition("@")[0], target))
        like = next((path for path in likes if path.is_file()), None)
        if like and not upgrade:
            shutil.copyfile(like, new)
        command = [
            find_uv(),
            "pip",
            "compile",
            "--quiet",
            "--generate-hashes",
            "--no-header",
            "--no-annotate",
            "--no-emit-index-url",
            "--no-emit-find-links",
            *resolved_for,
            "--python-version",
            pythons[0],
            *wheel_source(source),
            *overridden,
            "--output-file",
            str(new),
            str(source),
        ]
        run(command, f"{source} could not be resolved; {lock.name} is as it was.")
        text = new.read_text(encoding="utf-8")
    if re.search(r"://|^\s*-(?!-hash=)", text, re.MULTILINE):
        raise UserError(f"The new {lock} names an address or an index: it must not, so {lock.name} is as it was.")
    lock.write_text(f"# Python {', '.join(pythons)}\n{text}", encoding="utf-8")
    return lock
