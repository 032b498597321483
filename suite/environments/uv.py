"""Finds or installs the package manager uv, runs it, and makes locks anew with it. Standard library only."""

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
from suite.environments.locks import ARM, FALLBACK, ORCHESTRATOR, X86, Lock, beside, names, newest, pythons_named
from suite.errors import COMMAND, UserError, unknown
from suite.guard.variables import without_python

# PyTorch's index of CPU builds. It is used only if neither UV_FIND_LINKS nor PIP_FIND_LINKS is set.
TORCH_CPU_INDEX = "https://download.pytorch.org/whl/cpu"
# The oldest Linux on which all wheels of a target run; libtpu's wheels need a newer one than the others.
GLIBC, GLIBC_OF_TPU = "2_28", "2_31"

ELSEWHERE = (
    "Work in a copy of this checkout of your own (`git clone`), or have its owner run `make setup` and let others read "
    "what that makes."
)
# What to do about an installer's failure: the remedy of the first entry whose words are in the message.
REMEDIES = (
    ("hash mismatch", "A file differs from the locked one and was refused. Restore the lock if it was edited."),
    ("failed to initialize cache", "UV_CACHE_DIR names another folder for uv's cache."),
    ("read-only file system", f"That folder can't be written. {ELSEWHERE}"),
    ("permission denied", f"You may not read or write there. {ELSEWHERE}"),
    ("no space left", "The disk is full: a target's environments take up to 17 GB, and uv's cache as much again."),
    ("unknownissuer", "A proxy signs for the index: UV_SYSTEM_CERTS=true lets uv trust what this machine trusts."),
    ("download.pytorch.org", "UV_FIND_LINKS=DIR (or PIP_FIND_LINKS=DIR) takes PyTorch's CPU wheel from a folder."),
    ("no solution found", "No releases fit together: change the list of requirements, or its Python."),
    ("", f"Check the network and the free disk space; `{COMMAND} doctor` says what this machine lacks."),
)


class NoSolution(UserError):
    """uv looked at all releases and found none that its requirements allow."""


def find_uv(doomed: Path | None = None) -> str:
    """Returns the path of a uv that starts; if there is none, pip installs it. Raises UserError if that fails. A uv in
    `doomed`, a folder that is about to be removed, isn't taken."""
    for program in uv_places():
        inside = doomed is not None and doomed.resolve() in Path(program).resolve().parents
        if not inside and runs(program):
            return program
    tools = environments.ROOT / ".environments" / "uv"
    say("uv isn't installed: pip installs it")
    failure = f"uv isn't installed, and pip could not install it in {tools}."
    shutil.rmtree(tools, ignore_errors=True)
    try:
        run([sys.executable, "-m", "venv", str(tools)], failure)
        with tempfile.NamedTemporaryFile("w", suffix=".txt", encoding="utf-8") as file:
            file.write(pinned("uv", newest(ORCHESTRATOR, "cpu")))
            file.flush()
            pip = [str(tools / "bin" / "python"), "-m", "pip", "install", "--quiet", "--no-deps"]
            run([*pip, "-r", file.name], failure)
    except BaseException:
        shutil.rmtree(tools, ignore_errors=True)
        raise
    return str(tools / "bin" / "uv")


def uv_places() -> list[str]:
    ours = (environments.ROOT / folder / "bin" / "uv" for folder in (".venv", ".environments/uv"))
    return [str(path) for path in (shutil.which("uv"), *ours) if path]


def runs(program: str) -> bool:
    """Whether a program starts. One on PATH may only stand for it (a version manager's shim), without any uv."""
    try:
        return subprocess.run([program, "--version"], capture_output=True, check=False).returncode == 0
    except OSError:
        return False


def pinned(package: str, lock: Lock) -> str:
    """Returns the lines of a lock about one package: its version, and the hashes that pip then checks. If there is no
    lock, returns the package's name."""
    lines = re.search(rf"^{re.escape(package)}==(.*\\\n)*.*$", lock.text, re.MULTILINE)
    return (lines[0] if lines else package) + "\n"


def wheel_source(source: Path, links: Sequence[str] | None = None) -> list[str]:
    """Returns uv's options that say where PyTorch's CPU build comes from; none if `source`, a lock or a list of
    requirements, doesn't need that build. `links` are folders or addresses of wheels, by default `link_folders`."""
    if not source.is_file() or "+cpu" not in source.read_text(encoding="utf-8"):
        return []
    links = link_folders() if links is None else links
    if links:
        return [word for link in links for word in ("--find-links", link)]
    # PyTorch's index also has old versions of other packages. So uv takes the best match of all indexes; the lock's
    # hashes protect from other files.
    return ["--index", TORCH_CPU_INDEX, "--index-strategy", "unsafe-best-match"]


def link_folders() -> list[str]:
    named = os.environ.get("UV_FIND_LINKS") or os.environ.get("PIP_FIND_LINKS") or ""
    return [link for link in re.split(r"[,\s]+", named) if link]


def run(command: Sequence[str], failure: str) -> str:
    """Runs a command of an installer and returns its standard output.

    If the command fails, raises UserError with `failure`, the installer's message and a remedy. The error is NoSolution
    if uv knew all releases and found none that fit together.
    """
    # The user's settings must not change what is installed, nor prevent byte code, which halves import times.
    dropped = ("VIRTUAL_ENV", "UV_FIND_LINKS", "UV_REQUIRE_HASHES")
    environ = {name: value for name, value in without_python(os.environ).items() if name not in dropped}
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
        message = (done.stderr or done.stdout).strip() or f"{command[0]} exited {done.returncode} without a message"
        message = re.sub(r"(\s+sha256:\w+){3,}", " one of the lock's hashes", message)  # a package may have seventy
        package = re.search(r"`([\w.-]+)==[^`]+`|Because ([\w.-]+) was not found", message)
        about = f" The package: {package[1] or package[2]}." if package else ""
        # uv also says "no solution found" of a package that isn't in the index, or in the cache while it is offline.
        looked = "no solution found" in message.lower() and "was not found in" not in message
        kind = NoSolution if looked else UserError
        raise kind(f"{failure}{about}\n{message}\n{remedy(message)}")
    return done.stdout


def remedy(message: str) -> str:
    return next(advice for words, advice in REMEDIES if words in message.lower())


def resolve(source: Path, python: str, target: str, failure: str, *options: str, machine: str = X86) -> str:
    """Returns what `uv pip compile` prints for a list of requirements on a target. Raises UserError as `run` does."""
    platform = f"{machine}-manylinux_{GLIBC_OF_TPU if target in ('tpu', 'predict') else GLIBC}"
    where = [] if "--universal" in options else ["--python-platform", platform]
    # No Python is downloaded: uv needs none of that version to resolve for it.
    plain = ["--quiet", "--no-python-downloads", "--no-header", "--no-annotate", "--no-emit-index-url"]
    asked = [*plain, "--no-emit-find-links", "--python-version", python, *where, *options, str(source)]
    return run([find_uv(), "pip", "compile", *asked], failure)


def compile_locks(name: str, target: str = "cpu", *, upgrade: bool = False) -> list[Path]:
    """Makes the locks of an environment anew from its lists of requirements, and returns their paths: those of the
    target's folder and those for aarch64 alone. There is one lock for each Python that a list names; only the
    orchestrator has one lock for all of its Pythons. A lock that can't be resolved stays unchanged.

    A lock keeps its versions as far as its list allows them, and a new variant begins with the versions of its
    environment. With `upgrade`, a lock gets the newest versions that its list allows.
    """
    first = beside(name, target, "in")
    if not first.is_file():
        raise unknown("environment", name, [*names(target), ORCHESTRATOR], of=f"Target {target}")
    locks = []
    folders = (first.parent, first.parent / ARM)
    for source in (path for it in folders for path in (*it.glob(first.name), *sorted(it.glob(f"{name}-py3.*.in")))):
        pythons = pythons_named(source.read_text(encoding="utf-8"))
        for together in [pythons] if name == ORCHESTRATOR else [[python] for python in pythons]:
            is_newest = source.name == first.name and together[0] == pythons[0]
            lock = source.with_name(f"{name}.txt" if is_newest else f"{name}-py{together[0]}.txt")
            compile_lock(name, target, source, together, lock, upgrade=upgrade)
            locks.append(lock)
    known = {path for it in folders for path in it.glob(f"{name}*.txt") if FALLBACK.sub("", path.stem) == name}
    for lock in known - {*locks}:  # no list names the Python of these locks any more
        lock.unlink()
    return locks


def compile_lock(name: str, target: str, source: Path, pythons: Sequence[str], lock: Path, *, upgrade: bool) -> None:
    """Makes one lock anew. Raises UserError, and keeps the old lock, if no versions fit together, or if the new lock
    names an address."""
    options = ["--generate-hashes", *(["--universal"] if len(pythons) > 1 else []), *wheel_source(source)]
    machines = [ARM] if source.parent.name == ARM else [X86, ARM]
    override = beside(name, target, "override")
    if override.is_file():  # its requirements replace those of the packages themselves
        options += ["--override", str(override)]
    with tempfile.TemporaryDirectory() as folder:
        new = Path(folder) / lock.name
        family = newest(name.partition("@")[0], target).path
        likes = (lock, lock.parent.parent / lock.name, beside(name, target, "txt"), family)  # the second: x86-64's
        like = next((path for path in likes if path.is_file()), None)
        if like and not upgrade:
            # Without its hashes: uv would keep those of a version that stays, and another Python has other wheels.
            new.write_text(re.sub(r" \\\n    --hash=\S+", "", like.read_text(encoding="utf-8")), encoding="utf-8")
        # The orchestrator has one lock for all targets.
        platform = "cpu" if name == ORCHESTRATOR else target
        failure = f"{source} could not be resolved; {lock.name} is unchanged."
        resolve(source, pythons[0], platform, failure, *options, "--output-file", str(new), machine=machines[0])
        text = pruned(new, pythons, platform, machines, failure)
    if re.search(r"://|^\s*-(?!-hash=)", text, re.MULTILINE):
        raise UserError(f"The new {lock} names an address or an index, which isn't allowed: {lock.name} is unchanged.")
    lock.write_text(f"# Python {', '.join(pythons)}\n{text}", encoding="utf-8")


def pruned(lock: Path, pythons: Sequence[str], target: str, machines: Sequence[str], failure: str) -> str:
    """Returns a lock's text with the hashes of only those wheels that its Pythons take on these machines: on the first,
    and on each other that can have all of its packages. A package that none of them takes keeps its hashes."""
    options, fitting = ["--format=pylock.toml", "--no-deps", "--only-binary=:all:", *wheel_source(lock)], set()
    for machine in machines:
        try:
            files = [resolve(lock, python, target, failure, *options, machine=machine) for python in pythons]
        except NoSolution:
            if machine == machines[0]:
                raise
        else:
            fitting |= set(re.findall(r'sha256 = "(\w+)"', "".join(files)))

    def keep_fitting(package: re.Match[str]) -> str:
        kept = re.sub(r" \\\n    --hash=sha256:(\w+)", lambda each: each[0] if each[1] in fitting else "", package[0])
        return kept if "--hash" in kept else package[0]

    return re.sub(r"^\S+==.*(\n    --hash.*)+", keep_fitting, lock.read_text(encoding="utf-8"), flags=re.MULTILINE)
