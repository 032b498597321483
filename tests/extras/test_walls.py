"""Each extra can be deleted with its tests and with the extras that need it, and so can all of them together: the core
doesn't notice."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from suite.cli.extras import extras
from suite.environments import ROOT

pytestmark = [pytest.mark.release, pytest.mark.slow]
EXTRAS = sorted(extras())
TINY = ("--preset=tiny", "--workload=ffn", "--pass=forward", "--stack=numpy", "--engine=local", "--force")


def without(gone: list[str], copy: Path) -> Path:
    """Returns a copy of the checkout without some extras, their tests and their templates."""
    tracked = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, tracked.split("\0")):
        (copy / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, copy / name, follow_symlinks=False)
    for name in gone:
        shutil.rmtree(copy / "suite" / "extras" / name)
        shutil.rmtree(copy / "tests" / "extras" / name)
        shutil.rmtree(copy / "reports" / "templates" / name, ignore_errors=True)  # only some have templates
    (copy / ".environments").symlink_to(ROOT / ".environments")
    return copy


def ran(copy: Path, *command: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", *command],
        cwd=copy,
        env=os.environ | {"STACKWARS_LOCK": str(copy / "lock")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout[-3000:]} {done.stderr[-3000:]}"
    return done.stdout


def with_needing(name: str) -> list[str]:
    """An extra, and those that import it."""
    return [name, *(other for other in EXTRAS if name in extras()[other].needs)]


@pytest.mark.parametrize("gone", [*map(with_needing, EXTRAS), EXTRAS], ids="-".join)
def test_the_core_works_without_an_extra(gone: list[str], tmp_path: Path) -> None:
    copy = without(gone, tmp_path)
    said = ran(copy, "suite.cli", "--help")
    assert " ask " in said
    for name in gone:
        assert not [command for command in extras()[name].commands if f" {command} " in said]
    ran(copy, "suite.cli", "run", *TINY)
    ran(copy, "pytest", "-q", "--collect-only", "tests/extras", "tests/cli")  # whose tests are all that name extras
    if gone == EXTRAS:
        chosen = "not stacks and not slow and not release and not machine"
        ran(copy, "pytest", "-q", "-n", "2", "--hypothesis-profile=brief", "-m", chosen, "tests")
