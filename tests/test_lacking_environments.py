"""A test that takes an environment that can't be made is skipped and named last; in CI that is a failure."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
TEST = "tests/tools/test_notebooks.py::test_a_kernel_with_frameworks_measures_itself"


def tried(ci: bool, **lacking: str) -> subprocess.CompletedProcess[str]:
    """One test, where these environments could not be made."""
    variables = {name: value for name, value in os.environ.items() if name != "CI" and not name.startswith("PYTEST")}
    variables |= {"STACKWARS_LACKING": json.dumps(lacking)} | ({"CI": "true"} if ci else {})
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", TEST],
        cwd=ROOT,
        env=variables,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("name", ["notebook", "torch"])
@pytest.mark.parametrize("ci", [False, True])
def test_what_takes_it_is_skipped_and_named_last(name: str, ci: bool) -> None:
    done = tried(ci, **{name: "Python 3.99 could not be installed."})
    assert done.returncode == (1 if ci else 0), done.stdout
    assert ("1 error" if ci else "1 skipped") in done.stdout
    why = f"environment {name} isn't made: Python 3.99 could not be installed."
    assert f"Not tested: 1 tests. {why}" in done.stdout.splitlines()
