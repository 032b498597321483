"""What the doctor finds: each lack with its remedy, and nothing found by wishful thinking."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite import environments
from suite.cli.project import doctor
from suite.environments import locks, venv
from suite.machine import compiler, devices


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    """Findings are kept for a process's life; here machines change."""
    compiler.probe.cache_clear()
    devices.missing.cache_clear()
    yield
    compiler.probe.cache_clear()
    devices.missing.cache_clear()


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one lock and no environment."""
    (tmp_path / "docker" / "locks" / "cpu").mkdir(parents=True)
    (tmp_path / "docker" / "locks" / "cpu" / "six.txt").write_text("six==1.17.0\n")
    monkeypatch.setattr(environments, "ROOT", tmp_path)
    return tmp_path


def found(name: str) -> doctor.Check:
    return next(check for check in doctor.checks() if check.name.startswith(name))


def test_every_lack_has_a_remedy(root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(root))
    lacks = {check.name: check for check in doctor.checks() if check.ok is False}
    assert {"uv", "make", "C++ compiler (torch_inductor)", "environment six", "environment orchestrator"} <= set(lacks)
    assert all(check.remedy for check in lacks.values())
    assert lacks["environment six"].found == "missing, six 1.17.0"
    assert lacks["environment orchestrator"].found == "no lock"


@pytest.mark.usefixtures("root")
def test_a_half_made_environment_is_no_environment() -> None:
    venv.place(locks.newest("six", "cpu")).mkdir(parents=True)
    check = found("environment six")
    assert (check.ok, check.found, check.remedy) == (False, "half-made, six 1.17.0", "./stackwars setup")


def test_a_lock_has_its_framework_s_version_and_day_and_a_way_to_a_smaller_one(root: Path) -> None:
    folder = root / "docker" / "locks"
    (folder / "cpu" / "torch.txt").write_text("# Python 3.13\ntorch==2.15.0 \\\nnvidia-cublas==13.4 \\\n")
    (folder / "cpu" / "torch@2.13.txt").write_text("# Python 3.11\ntorch==2.13.0+cpu \\\n")
    (folder / "released.toml").write_text('[torch]\n"2.15.0" = "2026-10-28"\n')
    check = found("environment torch")
    assert check.found == "missing, torch 2.15.0 of 2026-10-28"
    assert "`--stack=STACK@2.13`" in check.remedy


@pytest.mark.usefixtures("root")
@pytest.mark.parametrize(("free", "ok"), [(20, True), (1, False)])
def test_the_disk_must_hold_the_environments(monkeypatch: pytest.MonkeyPatch, free: int, ok: bool) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(2**40, 0, free * 2**30))  # type: ignore[attr-defined]
    assert found("disk").ok is ok


def test_facts_are_neither_good_nor_bad() -> None:
    assert {check.name for check in doctor.checks() if check.ok is None} >= {"memory limits", "cores", "cuda", "tpu"}
