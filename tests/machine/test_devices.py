"""Which targets have their hardware here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from suite.machine import description, devices


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    """Findings are kept for a process's life; here machines change."""
    devices.missing.cache_clear()
    yield
    devices.missing.cache_clear()


def test_an_accelerator_without_its_driver_is_not_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Path, "exists", lambda path: str(path) == "/dev/nvidia0")
    monkeypatch.setattr(devices, "answers", lambda command: False)
    said = devices.missing()["cuda"]
    assert said is not None
    assert "nvidia-smi" in said
    devices.missing.cache_clear()
    monkeypatch.setattr(devices, "answers", lambda command: True)
    assert devices.missing()["cuda"] is None
    assert devices.missing()["cpu"] is None


@pytest.mark.parametrize(
    ("said", "expected"), [("71, 10\n7, 300\n7, 20\n", 320 << 20), ("71, 10\n", None), ("7, [N/A]\n", None), ("", None)]
)
def test_the_driver_tells_a_process_s_memory(
    said: str, expected: int | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\nprintf '{said}'\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert devices.driver_bytes(7) == expected


def test_without_a_driver_nobody_tells(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert devices.driver_bytes(7) is None


H200 = "NVIDIA H200, 580.159.04, 143771, 1980, 700.00, Enabled, Disabled"  # as such a machine answered
AT_WORK = "1980, 3201, 189.58, 42, 0x0000000000000000, 1980"


def answer(said: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "nvidia-smi"
    program.write_text(f"#!/bin/sh\nprintf '%s\\n' '{said}'\n", encoding="utf-8")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/bin:/usr/bin")


def test_a_gpu_is_described_by_its_driver(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    answer(f"{H200}\n{H200.replace('700.00', '[N/A]')}", tmp_path, monkeypatch)
    first, second = devices.gpus()
    assert description.gpu(first) == "NVIDIA H200 (140 GiB, driver 580.159.04, 700 W)"
    assert second["power_limit_watts"] is None and description.gpu(second) == "NVIDIA H200 (140 GiB, driver 580.159.04)"


@pytest.mark.parametrize(
    ("said", "slow"),
    [
        (AT_WORK, False),
        (AT_WORK.replace("0x0000000000000000", "0x0000000000000004"), False),  # held at its power limit
        (AT_WORK.replace("0x0000000000000000", "0x0000000000000040"), True),  # hot
        (AT_WORK.replace("1980, 3201", "1200, 3201"), True),
        ("1200, 3201, 300, 60, 0x0000000000000004, 1980", False),  # held at its power limit, as cheaper cards are
        ("N/A, ERR!, N/A, N/A, N/A, N/A", False),
        ("345, 3201, 76.62, 36, 0x0000000000000001, 1980", False),  # idle
        ("[N/A], [N/A], [N/A], [N/A], [N/A], [N/A]", False),
        ("no devices were found", False),
    ],
)
def test_a_gpu_that_was_slowed_is_noticed(
    said: str, slow: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer(said, tmp_path, monkeypatch)
    assert devices.slowed(devices.gpu_state()) is slow


def test_without_a_driver_no_gpu_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert devices.gpus() == [] and devices.gpu_state() == {} and not devices.slowed({})
