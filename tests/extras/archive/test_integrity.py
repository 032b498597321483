"""One name is one content, whoever tries otherwise: with exchanged pages and facts, at once, or in the midst of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from suite.cli.sets.listing import sets
from suite.errors import UserError
from suite.extras.archive import command, fetch, listing
from suite.extras.archive.publish import publish
from suite.extras.archive.signature import SIGNATURE
from suite.extras.archive.storage import UPLOADING, Storage
from suite.extras.archive.verify import verify
from suite.sets import manifest
from suite.sets.files import sole
from suite.sets.manifest import File
from suite.sets.result_set import LINE_MAX, ResultSet

PAGE = b"<script>theirs()</script>"


def quiet(text: str) -> None:
    """Nothing is to be said here."""


def with_page(stored: ResultSet, shelf: Storage, page: bytes) -> str:
    """An archive with a page, of which the name says nothing."""
    real = manifest.read(stored.folder)
    (stored.folder.parent / "page").write_bytes(page)
    files = {**real.files, "report.html": File(manifest.sha256(stored.folder.parent / "page"), len(page))}
    named = replace(real, files=files)
    for name in named.files:
        shelf.upload(page if name == "report.html" else stored.folder / name, named.name, name)
    shelf.upload(json.dumps(named.to_json()).encode(), named.name, manifest.NAME)
    return named.name


def exchange(shelf: Storage, name: str, **facts: Any) -> None:
    said = json.loads(shelf.read(name, manifest.NAME))
    shelf.upload(json.dumps(said | facts).encode(), name, manifest.NAME)


def test_a_name_has_128_bits_of_a_digest(stored: ResultSet, shelf: Storage) -> None:
    name = publish(stored.folder, shelf, quiet).name
    assert len(name.rpartition(".")[2]) * 4 == 128


def test_a_page_is_neither_published_nor_fetched(stored: ResultSet, shelf: Storage, tmp_path: Path) -> None:
    assert "report.html" not in shelf.files(publish(stored.folder, shelf, quiet).name)
    name = with_page(stored, shelf, PAGE)
    folder = fetch.fetch(shelf, name, tmp_path / "elsewhere")
    assert not (folder / "report.html").exists() and ResultSet.open(folder).problems() == []


def test_the_page_of_a_fetched_set_is_made_here(
    stored: ResultSet, shelf: Storage, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = with_page(stored, shelf, PAGE)
    command.fetch(set=name, from_=shelf.uri, results=str(tmp_path / "elsewhere"))
    page = tmp_path / "elsewhere" / name / "report.html"
    assert PAGE not in page.read_bytes() and b"<title>" in page.read_bytes()
    assert str(page) in capsys.readouterr().out
    assert verify(set=str(page.parent)) == 0


@pytest.mark.parametrize(
    ("fact", "value"),
    [
        ("command", "rm -rf /"),
        ("machine", {"cpu_model": "A faster one"}),
        ("outcomes", {"ok": 4000}),
        ("stacks", []),
        ("revision", "0" * 40),
        ("set_id", "another"),
        ("created_at", "2026-03-01T23:59:59+00:00"),
    ],
)
def test_exchanged_facts_are_found(stored: ResultSet, shelf: Storage, tmp_path: Path, fact: str, value: object) -> None:
    """Those that a name doesn't have, which stays as it is."""
    for name in (publish(stored.folder, shelf, quiet).name, with_page(stored, shelf, PAGE)):
        facts = {**stored.facts()}
        day = str(facts["created_at"])[:10]
        told = day + str(value)[10:] if fact == "created_at" else value
        exchange(shelf, name, **{fact: told})
        said = f"the manifest has another {fact} than the files"
        assert fetch.verify(shelf, name) == [said]
        with pytest.raises(UserError, match=said):
            fetch.fetch(shelf, name, tmp_path / "elsewhere")
        assert list((tmp_path / "elsewhere").iterdir()) == []


def test_exchanged_facts_of_a_set_here_are_found(stored: ResultSet) -> None:
    path = stored.folder / manifest.NAME
    path.write_text(json.dumps(json.loads(path.read_text()) | {"command": "rm -rf /"}))
    assert stored.problems() == ["the manifest has another command than the files"]


@pytest.mark.parametrize(
    "facts",
    [
        {"stacks": 5},
        {"stacks": [5]},
        {"outcomes": [1]},
        {"outcomes": {"ok": "many"}},
        {"machine": "x"},
        {"preset": {}},
        {"locks": []},
        {"images": 1},
        {"more": "of it"},
    ],
)
def test_a_manifest_of_wrong_types_hides_no_other_set(
    stored: ResultSet, shelf: Storage, facts: dict[str, Any], capsys: pytest.CaptureFixture[str]
) -> None:
    whole = publish(stored.folder, shelf, quiet).name
    other = with_page(stored, shelf, PAGE)
    exchange(shelf, other, **facts)
    sets(results="nowhere", from_=shelf.uri)
    said = capsys.readouterr()
    assert whole in said.out and f"{other}: The manifest of {other} doesn't have the expected form" in said.err


# --- at once ---


def test_of_two_fetches_at_once_one_is_refused_and_the_set_is_whole(
    stored: ResultSet, shelf: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = publish(stored.folder, shelf, quiet).name
    inside, go, download = threading.Event(), threading.Event(), Storage.download

    def slow(place: Storage, *arguments: Any) -> str:
        inside.set()
        assert go.wait(30)
        return download(place, *arguments)

    monkeypatch.setattr(Storage, "download", slow)
    first = threading.Thread(target=fetch.fetch, args=(shelf, name, tmp_path / "elsewhere"))
    first.start()
    assert inside.wait(30)
    with pytest.raises(UserError, match="is in use by another command"):
        fetch.fetch(shelf, name, tmp_path / "elsewhere")
    go.set()
    first.join()
    assert ResultSet.open(tmp_path / "elsewhere" / name).problems() == []
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == [name]


def test_a_set_in_use_is_not_published(stored: ResultSet, shelf: Storage) -> None:
    with sole(stored.folder), pytest.raises(UserError, match="is in use by another command"):
        publish(stored.folder, shelf, quiet)


def test_a_file_that_changes_while_it_is_published_spends_no_name(
    stored: ResultSet, place: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    changing, upload = stored.folder / "inputs" / "quick.toml", Storage.upload
    before = changing.read_text()

    def meanwhile(self: Storage, source: Path | bytes, name: str, file: str) -> str:
        if source == changing:
            changing.write_text(before.replace("preset", "secret"))
        return upload(self, source, name, file)

    with monkeypatch.context() as patched:
        patched.setattr(Storage, "upload", meanwhile)
        with pytest.raises(UserError, match=r"quick\.toml was changed during the upload"):
            publish(stored.folder, place, quiet)
    (name,) = place.folders()
    assert listing.of_storage(place) == [] and "inputs/quick.toml" not in place.files(name)
    changing.write_text(before)
    assert publish(stored.folder, place, quiet).name == name and fetch.verify(place, name) == []


def test_a_file_that_becomes_a_link_while_it_is_published_is_not_sent(
    stored: ResultSet, shelf: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    changing, upload = stored.folder / "inputs" / "quick.toml", Storage.upload

    def meanwhile(self: Storage, source: Path | bytes, name: str, file: str) -> str:
        if source == changing:
            changing.unlink()
            changing.symlink_to("/etc/hostname")
        return upload(self, source, name, file)

    monkeypatch.setattr(Storage, "upload", meanwhile)
    with pytest.raises(UserError, match="can't be used"):
        publish(stored.folder, shelf, quiet)
    assert listing.of_storage(shelf) == []


def test_what_a_killed_publish_has_left_goes_with_a_later_one(stored: ResultSet, shelf: Storage) -> None:
    folder = Path(shelf.path(UPLOADING))
    folder.mkdir(parents=True)
    left, under_way = folder / "0123456789abcdef", folder / "fedcba9876543210"
    for path in (left, under_way):
        path.write_bytes(b"half a file")
    os.utime(left, (0, 0))
    publish(stored.folder, shelf, quiet)
    assert [*folder.iterdir()] == [under_way]


# --- whose it is ---


@pytest.fixture
def key(tmp_path: Path) -> Path:
    """A key of OpenSSH without a passphrase."""
    if not shutil.which("ssh-keygen"):
        pytest.skip("ssh-keygen isn't on this machine: it is part of OpenSSH")
    path = tmp_path / "my key"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", "me@here", "-f", path], check=True)
    return path


def test_a_signed_set_says_whose_it_is_there_and_here(
    stored: ResultSet, place: Storage, key: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    public, uri = f"{key}.pub", place.uri
    name = publish(stored.folder, place, quiet, key=key).name
    command.fetch(set=name, from_=uri, results=str(tmp_path / "elsewhere"))
    folder = str(tmp_path / "elsewhere" / name)
    allowed = tmp_path / "allowed"
    allowed.write_text(f"# those whom I trust\nsomebody@there {Path(public).read_text()}")
    capsys.readouterr()
    for which, origin in ((name, uri), (folder, None)):
        assert verify(set=which, from_=origin, signed_by=public) == 0
        assert verify(set=which, from_=origin, signed_by=str(allowed)) == 0
        assert verify(set=which, from_=origin) == 0
    said = capsys.readouterr().out
    assert said.count("intact, signed by my_key.pub.") == 2 == said.count("intact, signed by somebody@there.")
    assert said.count("It is signed: --signed-by=FILE") == 2


def test_an_unsigned_set_or_one_of_somebody_else_is_not_theirs(
    stored: ResultSet, shelf: Storage, key: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    name = publish(stored.folder, shelf, quiet).name
    assert verify(set=name, from_=shelf.uri, signed_by=f"{key}.pub") == 3
    assert verify(set=name, from_=shelf.uri) == 0
    said = capsys.readouterr().out
    assert "intact, but unsigned." in said and "It is unsigned, so nothing proves who published it." in said
    other = tmp_path / "other"
    subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", other], check=True)
    (stored.folder / "inputs" / "more.txt").write_text("more")
    stored.seal()
    second = publish(stored.folder, shelf, quiet, key=other).name
    assert verify(set=second, from_=shelf.uri, signed_by=f"{key}.pub") == 3
    assert "signed by nobody in" in capsys.readouterr().out
    # A signature of one set is none of another.
    shelf.upload(shelf.read(second, SIGNATURE), name, SIGNATURE)
    assert verify(set=name, from_=shelf.uri, signed_by=f"{other}.pub") == 3


def test_what_is_no_key_or_no_signature_is_said(stored: ResultSet, shelf: Storage, key: Path, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="can't sign"):
        publish(stored.folder, shelf, quiet, key=tmp_path / "nowhere")
    assert not Path(shelf.root).exists(), "nothing is sent before it is signed"
    name = publish(stored.folder, shelf, quiet, key=key).name
    (tmp_path / "prose").write_text("prose\n")
    with pytest.raises(UserError, match="neither a public key nor"):
        verify(set=name, from_=shelf.uri, signed_by=str(tmp_path / "prose"))
    shelf.upload(b"-----BEGIN SSH SIGNATURE-----\nnonsense", name, SIGNATURE)
    assert verify(set=name, from_=shelf.uri, signed_by=f"{key}.pub") == 3


def test_changes_that_nobody_committed_are_published_only_if_asked_for(stored: ResultSet, shelf: Storage) -> None:
    patch = "diff --git a/suite/stats.py b/suite/stats.py\n+++ b/suite/stats.py\n+token = 'secret'\n"
    (stored.folder / "inputs" / "diff.patch").write_text(patch)
    stored.seal()
    with pytest.raises(UserError, match=r"suite/stats\.py\. Look at that file, then publish the set --with-changes"):
        publish(stored.folder, shelf, quiet)
    assert not Path(shelf.root).exists()
    assert "inputs/diff.patch" in publish(stored.folder, shelf, quiet, with_changes=True).files


def test_a_patch_of_one_endless_line_is_not_held_in_memory(stored: ResultSet) -> None:
    with (stored.folder / "inputs" / "diff.patch").open("w") as patch:
        patch.write("diff --git a/x b/" + "y" * 2**26 + "\ndiff --git a/z b/z\n")
    named, last = stored.changed_files()
    assert len(named) < LINE_MAX and last == "z"
