"""uv and what it is told: found or got, where wheels come from, and what a person can do when it fails."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from suite import environments
from suite.environments import say
from suite.environments.locks import ORCHESTRATOR, PYTHON_VERSION, lock_path, names
from suite.errors import UserError, unknown

# PyTorch publishes its CPU build on an index of its own; UV_FIND_LINKS or PIP_FIND_LINKS come first.
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"


# The oldest system that every wheel of a target runs on: libtpu's need a newer one.
PLATFORMS = {"cpu": "x86_64-manylinux_2_28", "cuda": "x86_64-manylinux_2_28", "tpu": "x86_64-manylinux_2_31",
             "test": "x86_64-manylinux_2_28", "cluster": "x86_64-manylinux_2_28"}  # fmt: skip

# What a person can do about an installer's failure, by the words that the installer has for it.
REMEDIES = (
    ("hash mismatch", "A file on offer isn't the one that was locked: it was refused. Restore an edited lock."),
    ("no space left", "The disk is full: a target's environments take about 10 GB, and uv's cache as much again."),
    ("download.pytorch.org", "UV_FIND_LINKS=DIR (or PIP_FIND_LINKS=DIR) takes PyTorch's CPU wheel from a folder."),
    ("", "Check the network and the free disk space; `invoke doctor` says what this machine lacks."),
)  # fmt: skip


def find_uv(doomed: Path) -> str:
    """uv from PATH, from `.venv`, or got by pip; never the one inside the folder that is about to be removed."""
    for found in uv_places():
        if doomed.resolve() not in Path(found).resolve().parents and runs(found):
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
            run([str(tools / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps", "-r", file.name],
                failure)  # fmt: skip
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
        command, cwd=environments.ROOT, env=environ, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False,
    )  # fmt: skip
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


def compile_lock(name: str, target: str = "cpu") -> Path:
    """Regenerate a lock from its .in file: hashes, no address, no header. Keeps the old one on failure."""
    lock = lock_path(name, target)
    source = lock.with_suffix(".in")
    if not source.is_file():
        raise unknown(f"list of requirements for target {target} of environment", name,
                      [*names(target), ORCHESTRATOR])  # fmt: skip
    python = ".".join(map(str, PYTHON_VERSION))
    # The orchestrator has one lock for all targets.
    platform = PLATFORMS["cpu" if name == ORCHESTRATOR else target]
    # Says which requirement of a requirement isn't wanted, and why.
    override = lock.with_suffix(".override")
    overridden = ["--override", str(override)] if override.is_file() else []
    # To standard output, so that neither the old lock nor a shell's settings have a say in the new one.
    command = [find_uv(lock), "pip", "compile", "--quiet", "--upgrade", "--generate-hashes", "--no-header",
               "--no-annotate", "--no-emit-index-url", "--no-emit-find-links", "--python-platform", platform,
               "--python-version", python, *wheel_source(name, target),
               *overridden, str(source)]  # fmt: skip
    text = run(command, f"{source} could not be resolved; {lock.name} is as it was.")
    if re.search(r"://|^\s*-(?!-hash=)", text, re.MULTILINE):
        raise UserError(f"The new {lock} names an address or an index: it must not, so {lock.name} is as it was.")
    lock.write_text(text, encoding="utf-8")
    return lock
