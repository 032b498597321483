"""A set is published once, whole or not at all, and comes back as it was."""

from __future__ import annotations

import itertools
import json
import os
import shutil
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from suite import results
from suite.errors import UserError
from suite.extras.archive import fetch, listing
from suite.extras.archive.publish import publish
from suite.extras.archive.storage import Storage
from suite.sets.result_set import ResultSet
from tests.extras.archive.s3 import BUCKET, SECRET, Server

Say = Callable[[str], None]


def quiet(text: str) -> None:
    """Nothing is to be said here."""


def test_a_set_comes_back_as_it_was(stored: ResultSet, place: Storage, tmp_path: Path) -> None:
    made = publish(stored.folder, place, quiet)
    assert made.name.startswith("2026-") and made.facts["outcomes"] == {"ok": 4} and made.facts["preset"] == "quick"
    assert not any(name.startswith("attempts/") for name in made.files)
    assert fetch.verify(place, made.name) == []
    folder = fetch.fetch(place, made.name, tmp_path / "elsewhere")
    assert folder.name == made.name and ResultSet.open(folder).problems() == []
    assert results.load(folder).rows == results.load(stored.folder).rows
    assert {path.name for path in (tmp_path / "elsewhere").iterdir()} == {made.name}, "no draft stays"
    with pytest.raises(UserError, match="exists already"):
        fetch.fetch(place, made.name, tmp_path / "elsewhere")


def test_a_name_is_published_once(stored: ResultSet, place: Storage, tmp_path: Path) -> None:
    made = publish(stored.folder, place, quiet)
    (stored.folder / "report.html").write_text("<p>another page</p>")
    stored.seal()
    with pytest.raises(UserError, match=f"has {made.name} already, and a published set is never changed"):
        publish(stored.folder, place, quiet)  # a page is derived: it doesn't make another set
    assert fetch.verify(place, made.name) == []
    (stored.folder / "inputs" / "more.txt").write_text("more")
    stored.seal()
    assert publish(stored.folder, place, quiet).name != made.name
    assert len(listing.of_storage(place)) == 2


def test_what_was_changed_or_isn_t_whole_is_not_published(stored: ResultSet, shelf: Storage) -> None:
    (stored.folder / "inputs" / "quick.toml").write_text("title = 'changed'\n")
    with pytest.raises(UserError, match=r"can't be archived: inputs/quick\.toml was changed"):
        publish(stored.folder, shelf, quiet)
    (stored.folder / "manifest.json").unlink()
    with pytest.raises(UserError, match="the run didn't finish"):
        publish(stored.folder, shelf, quiet)
    assert not Path(shelf.root).exists()


def test_verify_finds_each_changed_missing_and_added_file(stored: ResultSet, place: Storage) -> None:
    name = publish(stored.folder, place, quiet).name
    place.upload(b"title = 'a presen'\n", name, "inputs/quick.toml")  # as long as it was
    place.upload(b"more", name, "inputs/more.txt")
    place.filesystem.delete_file(place.path(name, "blocks/b02-a1.json"))
    found = ["blocks/b02-a1.json is missing", "inputs/more.txt isn't in the manifest", "inputs/quick.toml was changed"]
    assert sorted(fetch.verify(place, name)) == found


def test_a_changed_archive_leaves_nothing_here(stored: ResultSet, place: Storage, tmp_path: Path) -> None:
    name = publish(stored.folder, place, quiet).name
    place.upload(b"title = 'a presen'\n", name, "inputs/quick.toml")
    with pytest.raises(UserError, match=r"was changed\. Nothing was kept"):
        fetch.fetch(place, name, tmp_path / "elsewhere")
    assert list((tmp_path / "elsewhere").iterdir()) == []


class Cut(Exception):
    """The upload's machine is lost."""


def failing(after: int, then: Callable[[], None]) -> Callable[..., None]:
    """`Storage.upload`, with something that happens before each file from one on."""
    whole, order, guard = Storage.upload, itertools.count(), threading.Lock()

    def upload(self: Storage, *args: Any) -> None:
        with guard:
            number = next(order)
            if number == after:
                then()
        if number > after:
            raise Cut
        whole(self, *args)

    return upload


def stop() -> None:
    raise Cut


def test_an_upload_that_was_cut_short_is_invisible_and_goes_on(
    stored: ResultSet, place: Storage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Storage, "upload", failing(3, stop))
        with pytest.raises(Cut):
            publish(stored.folder, place, quiet)
    assert place.folders() and listing.of_storage(place) == []
    (name,) = place.folders()
    with pytest.raises(UserError, match="has no set"):
        fetch.fetch(place, name, tmp_path / "elsewhere")
    there = sorted(place.files(name))
    place.upload(b"x" * place.files(name)[there[0]], name, there[0])  # of the right size alone
    said: list[str] = []
    assert publish(stored.folder, place, said.append).name == name
    assert said == [f"2 of {len(place.files(name)) - 1} files are in the archive already, from an interrupted upload."]
    assert fetch.verify(place, name) == []


def test_two_writers_of_one_name(stored: ResultSet, place: Storage, tmp_path: Path) -> None:
    """Both begin before either has finished."""
    both, ended = threading.Barrier(2), []
    copy = shutil.copytree(stored.folder, tmp_path / "copy")

    def write(folder: Path) -> None:
        both.wait()
        try:
            ended.append(publish(folder, place, quiet).name)
        except UserError as refused:
            ended.append(str(refused))

    writers = [threading.Thread(target=write, args=[folder]) for folder in (stored.folder, copy)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    (archive,) = listing.of_storage(place)
    assert fetch.verify(place, archive.name) == []
    assert all(each == archive.name or "a published set is never changed" in each for each in ended)


@pytest.mark.slow
@pytest.mark.release
def test_a_server_that_is_killed_in_mid_upload(
    stored: ResultSet, bucket: Storage, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    try:
        with monkeypatch.context() as patched:
            patched.setattr(Storage, "upload", failing(3, server.kill))
            with pytest.raises(UserError, match="can't be used"):
                publish(stored.folder, bucket, quiet)
    finally:
        server.start()
    assert listing.of_storage(bucket) == []
    name = publish(stored.folder, bucket, quiet).name
    assert fetch.verify(bucket, name) == []


def test_a_wrong_secret_is_refused_in_a_sentence(
    stored: ResultSet, bucket: Storage, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "wrong-secret-of-mine")
    with pytest.raises(UserError, match=r"SIGNATURE_DOES_NOT_MATCH|ACCESS_DENIED") as refused:
        publish(stored.folder, Storage.of(bucket.uri), quiet)
    assert "wrong-secret-of-mine" not in str(refused.value)


def test_no_secret_is_kept(stored: ResultSet, bucket: Storage) -> None:
    name = publish(stored.folder, bucket, quiet).name
    kept = [path.read_bytes() for path in stored.folder.rglob("*") if path.is_file()]
    kept += [bucket.read(name, file) for file in bucket.files(name)]
    assert len(kept) > 10 and not any(SECRET.encode() in each for each in kept)
    for address in (f"s3://key:{SECRET}@{BUCKET}/x", f"s3://{BUCKET}/x?secret_key={SECRET}"):
        with pytest.raises(UserError, match="secret in it") as refused:
            Storage.of(address)
        assert SECRET not in str(refused.value)


def test_a_set_that_can_t_be_read_is_listed_with_the_reason(stored: ResultSet) -> None:
    user = os.geteuid()
    with tempfile.TemporaryDirectory(dir="/tmp") as folder:
        results = Path(folder)
        shutil.copytree(stored.folder, results / "theirs")
        results.chmod(0o755)
        (results / "theirs").chmod(0)
        if user == 0:
            os.seteuid(65534)
        try:
            (theirs,) = listing.here(results)
        finally:
            os.seteuid(user)
            (results / "theirs").chmod(0o755)
    assert "Permission denied" in theirs.trouble and theirs.where == str(results / "theirs")


def test_sets_are_listed(stored: ResultSet, place: Storage) -> None:
    made = publish(stored.folder, place, quiet)
    place.upload(json.dumps({"files": 1}).encode(), f"2026-01-01.cpu.{32 * '0'}", "manifest.json")
    broken, whole = listing.of_storage(place)
    assert "doesn't have the expected form" in broken.trouble and not broken.facts
    assert (whole.name, whole.trouble, whole.facts["stacks"]) == (made.name, "", ["jax_jit", "numpy"])
    (here,) = listing.here(stored.folder.parent)
    assert (here.name, here.where) == (made.name, str(stored.folder))
    (stored.folder / "manifest.json").unlink()
    (here,) = listing.here(stored.folder.parent)
    assert (here.name, here.facts["outcomes"]) == ("", {"ok": 4}) and "--resume" in here.trouble
