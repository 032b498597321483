"""Which targets have their hardware here."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from suite.machine import devices


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
