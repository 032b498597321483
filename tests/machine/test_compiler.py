"""The C++ compiler is tried, not only found."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite.machine import compiler


@pytest.fixture(autouse=True)
def nothing_remembered() -> Iterator[None]:
    """Findings are kept for a process's life; here machines change."""
    compiler.probe.cache_clear()
    yield
    compiler.probe.cache_clear()


def test_the_compiler_is_tried_not_only_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    fake = tmp_path / "g++"
    fake.write_text('#!/bin/sh\necho "probe.cpp:2: fatal error: omp.h: no such file" >&2\nexit 1\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("CXX", raising=False)
    assert compiler.find() is None
    assert "fatal error: omp.h" in compiler.probe(None)[1]


def test_the_compiler_is_the_one_that_inductor_takes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = shutil.which("g++")
    if own is None:
        pytest.skip("no g++ here")
    monkeypatch.delenv("CXX", raising=False)
    assert compiler.find() == own
    monkeypatch.setenv("CXX", str(tmp_path / "nowhere"))
    assert compiler.find() is None
