"""The C++ compiler is tried, not only found."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite.machine import compiler


@pytest.fixture(autouse=True)
def nothing_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Findings are kept for a process's life, and one that is good in the user's cache; here machines change."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
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


def test_a_compiler_that_works_is_tried_once_until_its_file_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake, tries = tmp_path / "c++", tmp_path / "tries"
    # Its program does nothing, well.
    text = f'#!/bin/sh\necho >> {tries}\nfor last; do :; done\nprintf "#!/bin/sh\\n" > $last; chmod +x $last\n'
    fake.write_text(text)
    fake.chmod(0o755)
    monkeypatch.setenv("CXX", str(fake))
    for changed, expected in ((False, 1), (False, 1), (True, 2)):
        if changed:
            fake.write_text(f"{text}# newer\n")
        compiler.probe.cache_clear()  # as in another process
        assert compiler.find() == str(fake)
        assert len(tries.read_text().splitlines()) == expected


def test_a_compiler_is_found_where_the_cache_cant_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    own = shutil.which("g++")
    if own is None:
        pytest.skip("no g++ here")
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    monkeypatch.delenv("CXX", raising=False)
    assert compiler.find() == own
