"""A stranger's repository: a package, and a question that asks for it."""

from __future__ import annotations

import subprocess
from pathlib import Path

PACKAGE = """import numpy as np

def total(x):
    return np.sqrt(np.cumsum(x * x, axis=0))
"""
SLOWER = (
    PACKAGE
    + """
once = total

def total(x):
    once(x)
    return once(x)
"""
)
WRONG = PACKAGE.replace("axis=0", "axis=1")
QUESTION = '''"""Is the total slower?"""
from suite.ask import normal

import stranger

def inputs(n=400):
    return {"x": normal(n, n, dtype="float64")}

def numpy_total(x):
    return stranger.total(x)
'''


def git(folder: Path, *words: str) -> str:
    identity = ["-c", "user.name=test", "-c", "user.email=test@localhost"]
    command = ["git", *identity, "-C", str(folder), *words]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def commit(folder: Path, message: str, **files: str) -> str:
    """Writes files, by their names with __ for a slash and without .py, and commits everything. Returns the commit."""
    for name, text in files.items():
        path = folder / f"{name.replace('__', '/')}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    git(folder, "add", "-A")
    git(folder, "commit", "-q", "--allow-empty", "-m", message)
    return git(folder, "rev-parse", "HEAD")


def repository(folder: Path) -> Path:
    """Returns a new one, whose first commit has the tag v1.0."""
    folder.mkdir(parents=True)
    git(folder, "init", "-q", "-b", "main")
    commit(folder, "first", stranger=PACKAGE, bench__total=QUESTION)
    git(folder, "tag", "v1.0")
    return folder
