"""Archives made to harm: refused before anything of them is written here."""

from __future__ import annotations

import dataclasses
import gzip
import json
import os
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.archive import fetch
from suite.archive.place import Place
from suite.archive.publish import publish
from suite.errors import UserError
from suite.results import manifest
from suite.results.manifest import File, Manifest
from suite.results.store import ResultSet


def made_up(stored: ResultSet, shelf: Place, replaced: dict[str, bytes], **changes: Any) -> str:
    """An archive whose manifest is in order, but for what is changed, and whose files are as it says."""
    real = manifest.described(stored.folder, stored.facts())
    files = dict(real.files)
    for name, data in replaced.items():
        path = stored.folder.parent / "replaced"
        path.write_bytes(data)
        files[name] = File(manifest.sha256(path), len(data))
    named = Manifest(real.facts, files)
    for name in files:
        if not name.startswith(("/", "..")):
            shelf.upload(replaced.get(name) or (stored.folder / name).read_bytes(), named.name, name)
    shelf.upload(json.dumps(named.to_json() | changes).encode(), named.name, manifest.NAME)
    return named.name


def refused(shelf: Place, name: str, elsewhere: Path, said: str) -> None:
    """With words, and nothing is there."""
    elsewhere.mkdir()
    with pytest.raises(UserError, match=said):
        fetch.fetch(shelf, name, elsewhere)
    assert list(elsewhere.iterdir()) == []


def test_what_is_made_up_in_order_is_taken(stored: ResultSet, shelf: Place, tmp_path: Path) -> None:
    """The tests below refuse what they name, and nothing else."""
    assert fetch.fetch(shelf, made_up(stored, shelf, {"inputs/more.txt": b"more"}), tmp_path / "elsewhere").is_dir()


@pytest.mark.parametrize("name", ["../outside", "/etc/cron.d/x", "inputs/../../x", "inputs/./x", "inputs//x", "logs/x",
                                  ".bashrc", "inputs/a\nb", "inputs/a\\b", "inputs", "results.parquet/x"])  # fmt: skip
def test_a_manifest_that_names_what_is_no_part_of_a_set(stored: ResultSet, shelf: Place, name: str,
                                                        tmp_path: Path) -> None:  # fmt: skip
    real = manifest.described(stored.folder, stored.facts())
    bad = Manifest(real.facts, {**real.files, name: File("0" * 64, 1)})
    shelf.upload(json.dumps(bad.to_json()).encode(), bad.name, manifest.NAME)
    refused(shelf, bad.name, tmp_path / "elsewhere", "is no file of a set")


@pytest.mark.parametrize("name", ["../a-set", "/etc", "a/b", "2026-03-01.cpu.0000000/..", "",
                                  "2026-03-01.cpu.0000000\n"])  # fmt: skip
def test_a_set_s_name_with_separators(shelf: Place, name: str, tmp_path: Path) -> None:
    refused(shelf, name, tmp_path / "elsewhere", "is no archive's name")


def test_a_link_or_a_pipe_in_an_archive(stored: ResultSet, shelf: Place, tmp_path: Path) -> None:
    name = publish(stored.folder, shelf, lambda text: None).name
    path = Path(shelf.path(name, "inputs/quick.toml"))
    path.unlink()
    path.symlink_to("/etc/hostname")
    refused(shelf, name, tmp_path / "one", "neither a file nor a folder")
    path.unlink()
    os.mkfifo(path)
    refused(shelf, name, tmp_path / "two", "neither a file nor a folder")
    path.unlink()
    folder = Path(shelf.path(name))
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    refused(shelf, name, tmp_path / "three", "neither a file nor a folder")


def test_a_link_here_is_not_published(stored: ResultSet, shelf: Place) -> None:
    (stored.folder / "inputs" / "secrets").symlink_to("/etc/shadow")
    with pytest.raises(UserError, match="inputs/secrets is neither a file nor a folder"):
        publish(stored.folder, shelf, lambda text: None)


def bomb_of_parquet() -> bytes:
    """Many rows of one long text: some kilobytes."""
    sink, many = pa.BufferOutputStream(), pa.table({"text": ["x" * 2000] * 100_000})
    pq.write_table(many, sink, compression="zstd", use_dictionary=False)
    return bytes(sink.getvalue())


@pytest.mark.parametrize(("file", "data"), [("ir/a/b.mlir.gz", gzip.compress(bytes(2**28))),
                                            ("results.parquet", bomb_of_parquet())])  # fmt: skip
def test_a_bomb(stored: ResultSet, shelf: Place, file: str, data: bytes, tmp_path: Path) -> None:
    assert len(data) < 2**20
    refused(shelf, made_up(stored, shelf, {file: data}), tmp_path / "elsewhere", f"{file} of .* unpacks from")


@pytest.mark.parametrize(("file", "said"), [("ir/a/b.mlir.gz", "no gzip file"), ("results.parquet", "no Parquet file")])
def test_what_is_not_what_it_is_called(stored: ResultSet, shelf: Place, file: str, said: str, tmp_path: Path) -> None:
    refused(shelf, made_up(stored, shelf, {file: b"MZ" * 100}), tmp_path / "elsewhere", said)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"schema_version": 99}, "schema version 99"),
        ({"schema_version": "7"}, "schema version 7"),
        ({"files": {"plan.json": {"sha256": "0" * 63, "bytes": 1}}}, "no digest and size for plan.json"),
        ({"files": {"plan.json": {"sha256": "0" * 64, "bytes": -1}}}, "no digest and size for plan.json"),
        ({"files": {"plan.json": {"sha256": "0" * 64, "bytes": True}}}, "no digest and size for plan.json"),
        ({"files": {"plan.json": {"sha256": "0" * 64, "bytes": 2**50}}}, "larger than any set"),
        ({"files": {"plan.json": "0" * 64}}, "no digest and size for plan.json"),
        ({"files": [1]}, "can't be read"),
        ({"created_at": 5}, "can't be read"),
        ({"name": "2026-03-01.cpu.0000000"}, "lists the files of"),
    ],
)  # fmt: skip
def test_a_manifest_that_lies(stored: ResultSet, shelf: Place, changes: dict[str, Any], said: str,
                              tmp_path: Path) -> None:  # fmt: skip
    refused(shelf, made_up(stored, shelf, {}, **changes), tmp_path / "elsewhere", said)


def test_a_manifest_without_end(stored: ResultSet, shelf: Place, tmp_path: Path) -> None:
    name = made_up(stored, shelf, {}, command="x" * 2**26)
    refused(shelf, name, tmp_path / "elsewhere", "larger than any manifest")


def test_another_archive_s_manifest(stored: ResultSet, shelf: Place, tmp_path: Path) -> None:
    made = publish(stored.folder, shelf, lambda text: None)
    taken = "2026-03-01.cpu.0000000"
    Path(shelf.path(made.name)).rename(shelf.path(taken))
    refused(shelf, taken, tmp_path / "elsewhere", f"is that of {made.name}")


@given(st.binary(max_size=300))
def test_any_bytes_are_a_manifest_or_refused(data: bytes) -> None:
    with pytest.raises(UserError):
        Manifest.parsed(data, "it")


PLAIN = st.none() | st.booleans() | st.integers() | st.text(max_size=8)


@given(st.recursive(PLAIN, lambda each: st.lists(each, max_size=3) | st.dictionaries(st.text(max_size=8), each)))
def test_any_json_is_a_manifest_or_refused(found: Any) -> None:
    """Also where a manifest would have files."""
    for text in (json.dumps(found), json.dumps({"schema_version": 7, "files": found}),
                 json.dumps({"schema_version": 7, "files": {"plan.json": found}})):  # fmt: skip
        if text != json.dumps({"schema_version": 7, "files": {}}):
            with pytest.raises(UserError):
                Manifest.parsed(text.encode(), "it")


def test_a_manifest_is_read_as_it_was_written(stored: ResultSet) -> None:
    made = manifest.described(stored.folder, stored.facts())
    read = manifest.read(stored.folder)
    assert dataclasses.replace(read, facts=made.facts) == made and read.name == made.name
    assert read.facts == made.facts
