"""Caches as the kernel lists them, and bytes that are really moved."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.machine import bandwidth, facts
from suite.machine.bandwidth import Caches, caches

KIB = 1024


def lay_out(root: Path, core: int, *entries: tuple[str, str, str, str]) -> None:
    """A core's caches, as sysfs has them: (level, type, size, cores that share it)."""
    for index, values in enumerate(entries):
        place = root / f"cpu{core}" / "cache" / f"index{index}"
        place.mkdir(parents=True)
        for name, value in zip(("level", "type", "size", "shared_cpu_list"), values, strict=True):
            (place / name).write_text(f"{value}\n")


def test_a_shared_cache_counts_once(tmp_path: Path) -> None:
    for core in (0, 1, 2):
        shared = "2-3" if core == 2 else "0-1"
        lay_out(
            tmp_path,
            core,
            ("1", "Data", "48K", str(core)),
            ("1", "Instruction", "32K", str(core)),
            ("2", "Unified", "1024K", str(core)),
            ("3", "Unified", "32768K", shared),
        )
    assert caches([0, 1], tmp_path) == Caches(last=32768 * KIB, inner=2 * (48 + 1024) * KIB)
    assert caches([0, 2], tmp_path).last == 2 * 32768 * KIB, "two caches"


def test_hidden_caches_are_assumed(tmp_path: Path) -> None:
    assert caches([0], tmp_path) == Caches(bandwidth.CACHE_BYTES_LEAST, 0)


@pytest.mark.parametrize("kind", bandwidth.KINDS)
def test_each_kind_of_access_really_moves_bytes(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bandwidth, "WINDOW_SECONDS", 0.01)
    rate, had = bandwidth.together(kind, facts.usable_cores()[:2], 1 << 14)
    assert rate > 1e6 and 0.0 < had < 1.5


def test_a_core_that_fails_doesn_t_hold_up_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bandwidth, "TIMEOUT_SECONDS", 0.2)
    monkeypatch.setattr(bandwidth, "WINDOW_SECONDS", 0.01)
    with pytest.raises(EOFError):
        bandwidth.together("copy", [facts.usable_cores()[0], 10**6], 1 << 10)
