"""Lists the releases of a package that the package index has, by asking uv."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from suite.environments import uv
from suite.errors import UserError

MOST = 50  # releases that are listed at most; each needs a call of uv


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
    failure = f"uv gives no release that is {requirement} for Python {python}."
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "wanted.in"
        file.write_text(requirement + "\n", encoding="utf-8")
        text = uv.resolve(file, python, target, failure, "--no-deps")
    pinned = re.search(r"==(\S+)", text)
    if pinned is None:
        raise UserError(f"No release is {requirement} for Python {python}.")
    return pinned[1]
