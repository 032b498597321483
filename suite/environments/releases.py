"""Which releases of a package there are, by the index that uv is set up with."""

from __future__ import annotations

import re
import tempfile
from pathlib import Path

from suite.environments import uv
from suite.errors import UserError

MOST = 50  # asked for one by one


def between(package: str, good: str, bad: str, python: str, target: str) -> list[str]:
    """Releases from `good` to `bad`, oldest first, that have a wheel or a source for a Python; both of them included.

    Raises UserError where `bad` doesn't come after `good`, or one of them doesn't exist.
    """
    found = [newest(f"{package}=={bad}", python, target)]
    while found[-1] != newest(f"{package}=={good}", python, target):
        try:
            found.append(newest(f"{package}>={good},<{found[-1]}", python, target))
        except UserError:
            raise UserError(f"{package} {bad} doesn't come after {good}: nothing lies between them.") from None
        if len(found) > MOST:
            raise UserError(f"There are more than {MOST} releases from {good} to {bad}: say which, with --releases.")
    return found[::-1]


def newest(requirement: str, python: str, target: str) -> str:
    """The newest release that a requirement admits. Raises UserError with uv's words."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "wanted.in"
        file.write_text(requirement + "\n", encoding="utf-8")
        text = uv.run(
            [
                uv.find_uv(),
                "pip",
                "compile",
                "--quiet",
                "--no-deps",
                "--no-header",
                "--no-annotate",
                "--no-emit-index-url",
                "--no-emit-find-links",
                "--python-version",
                python,
                "--python-platform",
                uv.PLATFORMS[target],
                str(file),
            ],
            f"No release is {requirement} for Python {python}.",
        )
    pinned = re.search(r"==(\S+)", text)
    if pinned is None:
        raise UserError(f"No release is {requirement} for Python {python}.")
    return pinned[1]
