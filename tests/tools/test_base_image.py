"""The base that is made without a registry."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from suite.errors import UserError
from suite.machine import facts
from tools import base_image


@pytest.fixture
def debian(monkeypatch: pytest.MonkeyPatch) -> None:
    read = facts.read
    monkeypatch.setattr(facts, "read", lambda path: "ID=debian\n" if path == "/etc/os-release" else read(path))


@pytest.mark.parametrize(
    ("file", "text"),
    [
        ("sources.list", "# a comment\ndeb http://mirror.example/debian bookworm main\n"),
        ("sources.list", "deb [arch=amd64 trusted=yes] http://mirror.example/debian bookworm main\n"),
        ("sources.list.d/debian.sources", "Types: deb\nURIs: http://mirror.example/debian\nSuites: bookworm\n"),
    ],
)
def test_the_mirror_is_the_machines_own(debian: None, tmp_path: Path, file: str, text: str) -> None:
    (tmp_path / "sources.list.d").mkdir()
    (tmp_path / "sources.list.d" / "another.list").write_text("deb http://other.example/apt stable main\n")
    (tmp_path / file).write_text(text)
    assert base_image.host_mirror(tmp_path) == "http://mirror.example/debian"


def test_a_machine_without_a_debian_mirror_is_asked_for_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sources.list").write_text("deb http://mirror.example/ubuntu noble main\n")
    with pytest.raises(UserError, match="--mirror=URL"):
        base_image.host_mirror(tmp_path)
    monkeypatch.setattr(facts, "read", lambda path: "ID=ubuntu\n")
    with pytest.raises(UserError, match="--mirror=URL"):
        base_image.host_mirror(tmp_path)


def test_the_base_trusts_whom_this_machine_trusts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "mine.crt").write_text("a certificate")
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "mine.crt"))
    (tmp_path / "etc" / "ssl" / "certs").mkdir(parents=True)
    base_image.trust_as_here(tmp_path)
    assert (tmp_path / base_image.CA_BUNDLE.lstrip("/")).read_text() == "a certificate"


def test_root_and_debootstrap_are_asked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: 1000)
    with pytest.raises(UserError, match="needs root"):
        base_image.make(None, "3.11", "http://mirror.example/debian", print)  # type: ignore[arg-type]
    monkeypatch.setattr(os, "geteuid", lambda: 0)
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match="apt-get install debootstrap"):
        base_image.make(None, "3.13", "http://mirror.example/debian", print)  # type: ignore[arg-type]


def test_a_python_that_no_debian_has_is_refused() -> None:
    with pytest.raises(UserError, match=r"3\.10"):
        base_image.make(None, "3.10", None, print)  # type: ignore[arg-type]
