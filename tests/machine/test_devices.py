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
