"""Knows the releases of packages: asks the package index for them by uv, and keeps the days on which those that locks
pin came out, in docker/locks/released.toml."""

from __future__ import annotations

import re
import tempfile
import tomllib
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path

from suite import environments
from suite.environments import uv
from suite.environments.locks import Lock, version_key
from suite.errors import UserError

MOST = 50  # releases that are listed at most; each needs a call of uv
HEAD = (
    "# The days on which releases came out, by the package index. `python -m tools.lock` adds what a lock pins first.\n"
)
Days = dict[str, dict[str, str]]  # {package: {release: day}}


def between(package: str, good: str, bad: str, python: str, target: str) -> list[str]:
    """Returns the releases from `good` to `bad`, both included, that a Python of this version can use; oldest first.

    Raises UserError if `bad` doesn't come after `good`, if there are too many releases, and, with uv's message, if one
    of the two doesn't exist or uv fails.
    """
    newest_first, oldest = [newest(f"{package}=={bad}", python, target)], newest(f"{package}=={good}", python, target)
    while newest_first[-1] != oldest:
        try:
            newest_first.append(newest(f"{package}>={good},<{newest_first[-1]}", python, target))
        except uv.NoSolution:
            raise UserError(f"{package} {bad} doesn't come after {good}: nothing lies between them.") from None
        if len(newest_first) > MOST:
            raise UserError(f"There are more than {MOST} releases from {good} to {bad}: list some with --releases.")
    return newest_first[::-1]


def newest(requirement: str, python: str, target: str) -> str:
    """Returns the newest release that a requirement allows. Raises UserError with uv's message: NoSolution if there is
    no such release."""
    pinned = re.search(r"==(\S+)", resolved(requirement, python, target))
    if pinned is None:
        raise UserError(f"No release is {requirement} for Python {python}.")
    return pinned[1]


def resolved(requirement: str, python: str, target: str, *options: str) -> str:
    failure = f"uv gives no release that is {requirement} for Python {python}."
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "wanted.in"
        file.write_text(requirement + "\n", encoding="utf-8")
        return uv.resolve(file, python, target, failure, "--no-deps", *options)


def dated(package: str, version: str) -> str:
    """Returns a version with the day on which its release came out, `2.15.0 of 2026-10-28`; without, if that isn't
    known. A build like `2.13.0+cpu` has its release's."""
    day = days(table()).get(spelled(package), {}).get(release(version))
    return f"{version} of {day}" if day else version


def undated(pinned: Iterable[Lock], packages: Collection[str]) -> dict[tuple[str, str], Lock]:
    """Returns {(package, release): a lock that pins it} of those of `packages` whose day isn't known."""
    known, names = days(table()), {*map(spelled, packages)}
    return {
        (package, release(version)): lock
        for lock in pinned
        for package, version in lock.pins.items()
        if package in names and release(version) not in known.get(package, {})
    }


def add_days(pinned: Iterable[Lock], packages: Collection[str]) -> list[str]:
    """Asks the index when the releases that are `undated` came out, and keeps what it says. Returns lines of the
    table."""
    known, lines = {package: dict(of) for package, of in days(table()).items()}, []
    for (package, version), lock in undated(pinned, packages).items():
        if day := uploaded(package, version, lock.python, lock.target):
            known.setdefault(package, {})[version] = day
            lines.append(f"{package} {version}: {day}")
    if lines:
        table().write_text(
            HEAD + "".join(section(package, known[package]) for package in sorted(known)), encoding="utf-8"
        )
        days.cache_clear()
    return lines


def uploaded(package: str, version: str, python: str, target: str) -> str | None:
    """Returns the day, in UTC, on which the index got the first file of a release that a Python can use; None if it
    doesn't say."""
    (found,) = tomllib.loads(resolved(f"{package}=={version}", python, target, "--format=pylock.toml"))["packages"]
    files = [*found.get("wheels", ()), found.get("sdist", {})]
    return min((f"{file['upload-time']:%Y-%m-%d}" for file in files if "upload-time" in file), default=None)


def table() -> Path:
    return environments.ROOT / "docker" / "locks" / "released.toml"


@cache
def days(file: Path) -> Days:
    return tomllib.loads(file.read_text(encoding="utf-8")) if file.is_file() else {}


def section(package: str, of: dict[str, str]) -> str:
    releases = sorted(of, key=version_key, reverse=True)
    return f"\n[{package}]\n" + "".join(f'"{version}" = "{of[version]}"\n' for version in releases)


def spelled(package: str) -> str:
    """Returns a package's name as locks spell it."""
    return re.sub(r"[-_.]+", "-", package).lower()


def release(version: str) -> str:
    return version.partition("+")[0]
