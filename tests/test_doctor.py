"""What the doctor finds: each lack with its remedy, and nothing found by wishful thinking."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite import doctor, environments


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    """Findings are kept for a process's life; here machines change."""
    doctor.probe_compiler.cache_clear()
    doctor.devices.cache_clear()
    yield
    doctor.probe_compiler.cache_clear()
    doctor.devices.cache_clear()


def found(name: str) -> doctor.Check:
    """One finding by its name."""
    return next(check for check in doctor.checks() if check.name.startswith(name))


@pytest.mark.parametrize(
    ("system", "machine"), [("Darwin", "arm64"), ("Windows", "AMD64"), ("Linux", "aarch64"), ("Darwin", "x86_64")]
)
def test_another_platform_is_refused_in_one_line(system: str, machine: str) -> None:
    said = doctor.platform_problem(system, machine)
    assert said == f"Stack Wars runs on Linux on x86-64; this is {system} on {machine}."


def test_every_lack_has_a_remedy(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docker" / "locks" / "cpu").mkdir(parents=True)
    (tmp_path / "docker" / "locks" / "cpu" / "six.txt").write_text("six==1.17.0\n")
    monkeypatch.setattr(environments, "ROOT", tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    lacks = {check.name: check for check in doctor.checks() if check.ok is False}
    assert {"uv", "make", "C++ compiler (torch_inductor)", "environment six", "environment orchestrator"} <= set(lacks)
    assert all(check.remedy for check in lacks.values())
    assert lacks["environment six"].found == "missing"
    assert lacks["environment orchestrator"].found == "no lock"


def test_the_compiler_is_tried_not_only_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "g++"
    fake.write_text("#!/bin/sh\necho \"probe.cpp:2: fatal error: omp.h: no such file\" >&2\nexit 1\n")
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("CXX", raising=False)
    assert doctor.find_compiler() is None
    assert "fatal error: omp.h" in found("C++ compiler").found


def test_the_compiler_is_the_one_that_inductor_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = shutil.which("g++")
    if own is None:
        pytest.skip("no g++ here")
    monkeypatch.delenv("CXX", raising=False)
    assert doctor.find_compiler() == own
    monkeypatch.setenv("CXX", str(tmp_path / "nowhere"))
    assert doctor.find_compiler() is None


def test_a_half_made_environment_is_no_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "docker" / "locks" / "cpu").mkdir(parents=True)
    (tmp_path / "docker" / "locks" / "cpu" / "six.txt").write_text("six==1.17.0\n")
    monkeypatch.setattr(environments, "ROOT", tmp_path)
    environments.place("six", "cpu").mkdir(parents=True)
    check = found("environment six")
    assert (check.ok, check.found, check.remedy) == (False, "half-made", "make setup")


@pytest.mark.parametrize(("free", "ok"), [(20, True), (1, False)])
def test_the_disk_must_hold_the_environments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, ok: bool
) -> None:
    (tmp_path / "docker" / "locks" / "cpu").mkdir(parents=True)
    (tmp_path / "docker" / "locks" / "cpu" / "six.txt").write_text("six==1.17.0\n")
    monkeypatch.setattr(environments, "ROOT", tmp_path)
    monkeypatch.setattr(shutil, "disk_usage", lambda _: shutil._ntuple_diskusage(2**40, 0, free * 2**30))  # type: ignore[attr-defined]
    assert found("disk").ok is ok


def test_an_accelerator_without_its_driver_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "exists", lambda path: str(path) == "/dev/nvidia0")
    monkeypatch.setattr(doctor, "answers", lambda command: False)
    said = doctor.devices()["cuda"]
    assert said is not None
    assert "nvidia-smi" in said
    doctor.devices.cache_clear()
    monkeypatch.setattr(doctor, "answers", lambda command: True)
    assert doctor.devices()["cuda"] is None
    assert doctor.devices()["cpu"] is None


def test_facts_are_neither_good_nor_bad() -> None:
    assert {check.name for check in doctor.checks() if check.ok is None} >= {"memory limits", "cores", "cuda", "tpu"}
