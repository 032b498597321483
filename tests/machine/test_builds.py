"""What a process is made of: read from this one, and from texts of other machines."""

from __future__ import annotations

import sys
import sysconfig
from pathlib import Path

import pytest

from suite.machine import builds

MOUNTS = r"""
22 1 0:20 / / rw,relatime shared:1 - ext4 /dev/vda1 rw
25 22 0:23 / /dev/shm rw,nosuid - tmpfs tmpfs rw
31 22 0:30 / /with\040space rw - xfs /dev/vdb rw
40 22 0:40 / /data rw - ext4 /dev/vdc rw
41 40 0:41 / /data rw - overlay overlay rw
"""


@pytest.mark.parametrize(
    ("path", "kind"),
    [
        ("/home/x", "ext4"),
        ("/dev/shm/cache", "tmpfs"),
        ("/dev/shmoo", "ext4"),
        ("/with space/y", "xfs"),
        ("/data/z", "overlay"),
    ],
)
def test_a_folder_lies_on_the_deepest_mount_above_it(path: str, kind: str) -> None:
    assert builds.file_system(path, MOUNTS) == kind


def test_what_is_hidden_is_unknown(monkeypatch: pytest.MonkeyPatch) -> None:
    assert builds.file_system("/x", "") is None
    monkeypatch.setattr(builds.facts, "read", lambda path: None)
    assert builds.medium("/x") is None


def test_memory_is_told_from_a_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builds.facts, "read", lambda path: MOUNTS)
    assert builds.medium("/dev/shm/x") == "memory (tmpfs)"
    assert builds.medium("/home") == "disk (ext4)"


@pytest.mark.parametrize(
    ("options", "flags", "debug", "words"),
    [
        ("'--enable-optimizations' '--with-lto'", "-O3", 0, ["PGO", "LTO"]),
        ("'--prefix=/usr'", "-O3", 0, ["no PGO", "no LTO"]),
        (None, "-fprofile-use -flto=auto", 1, ["PGO", "LTO", "debug"]),
    ],
)
def test_an_interpreter_tells_how_it_was_built(
    options: str | None, flags: str, debug: int, words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    variables = {"CONFIG_ARGS": options, "PY_CFLAGS": flags, "Py_DEBUG": debug}
    monkeypatch.setattr(sysconfig, "get_config_var", variables.get)
    said = builds.interpreter().split(", ")
    assert said[0] == f"CPython {sys.version.split()[0]}"
    assert said[1 : 1 + len(words)] == words


def test_the_compiler_is_the_one_that_is_named(tmp_path: Path) -> None:
    fake = tmp_path / "g++"
    fake.write_text("#!/bin/sh\necho 'g++ (Test) 99.1'\necho more\n")
    fake.chmod(0o755)
    assert builds.compiler_version(str(fake)) == "g++ (Test) 99.1"
    assert builds.compiler_version(str(tmp_path / "nowhere")) is None


def test_a_process_tells_all_that_is_compared(tmp_path: Path) -> None:
    found = builds.process(str(tmp_path))
    assert set(found) == {"interpreter", "compiler", "c_library", "cache_medium", "cpu_quota"}
    assert found["c_library"].startswith("glibc ")
