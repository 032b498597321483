"""Archives made to harm: refused before anything of them is written here."""

from __future__ import annotations

import gzip
import json
import os
import resource
import shutil
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from suite import results
from suite.errors import Damaged, UserError
from suite.extras.archive import fetch
from suite.extras.archive.publish import publish
from suite.extras.archive.storage import Storage
from suite.sets import manifest
from suite.sets import parquet as parquet_files
from suite.sets.arrow import SCHEMA, to_table
from suite.sets.manifest import File, Manifest
from suite.sets.parquet import read_rows
from suite.sets.result_set import ResultSet
from suite.sets.rows import Row
from suite.sets.schema import NAMES
from tests.results.rows import attempt_of, row_of


def made_up(stored: ResultSet, shelf: Storage, replaced: dict[str, bytes], **changes: Any) -> str:
    """An archive whose manifest is in order, but for what is changed, and whose files are as it says."""
    real = manifest.read(stored.folder)
    files = dict(real.files)
    for name, data in replaced.items():
        path = stored.folder.parent / "replaced"
        path.write_bytes(data)
        files[name] = File(manifest.sha256(path), len(data))
    named = replace(real, files=files)
    for name in files:
        if not name.startswith(("/", "..")):
            shelf.upload(replaced.get(name) or (stored.folder / name).read_bytes(), named.name, name)
    shelf.upload(json.dumps(named.to_json() | changes).encode(), named.name, manifest.NAME)
    return named.name


def refused(shelf: Storage, name: str, elsewhere: Path, said: str) -> None:
    """With words, and nothing is there."""
    elsewhere.mkdir()
    with pytest.raises(UserError, match=said):
        fetch.fetch(shelf, name, elsewhere)
    assert list(elsewhere.iterdir()) == []


def test_what_is_made_up_in_order_is_taken(stored: ResultSet, shelf: Storage, tmp_path: Path) -> None:
    """The tests below refuse what they name, and nothing else."""
    assert fetch.fetch(shelf, made_up(stored, shelf, {"inputs/more.txt": b"more"}), tmp_path / "elsewhere").is_dir()


@pytest.mark.parametrize(
    "name",
    [
        "../outside",
        "/etc/cron.d/x",
        "inputs/../../x",
        "inputs/./x",
        "inputs//x",
        "logs/x",
        ".bashrc",
        "inputs/a\nb",
        "inputs/a\\b",
        "inputs",
        "results.parquet/x",
    ],
)
def test_a_manifest_that_names_what_is_no_part_of_a_set(
    stored: ResultSet, shelf: Storage, name: str, tmp_path: Path
) -> None:
    real = manifest.read(stored.folder)
    bad = replace(real, files={**real.files, name: File("0" * 64, 1)})
    shelf.upload(json.dumps(bad.to_json()).encode(), bad.name, manifest.NAME)
    refused(shelf, bad.name, tmp_path / "elsewhere", "isn't a file of a set")


@pytest.mark.parametrize(
    "name",
    [
        "../a-set",
        "/etc",
        "a/b",
        "2026-03-01.cpu.00000000000000000000000000000000/..",
        "",
        "2026-03-01.cpu.00000000000000000000000000000000\n",
    ],
)
def test_a_set_s_name_with_separators(shelf: Storage, name: str, tmp_path: Path) -> None:
    refused(shelf, name, tmp_path / "elsewhere", "isn't the name of a published set")


def test_a_link_or_a_pipe_in_an_archive(stored: ResultSet, shelf: Storage, tmp_path: Path) -> None:
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


def test_a_link_here_is_not_published(stored: ResultSet, shelf: Storage) -> None:
    (stored.folder / "inputs" / "secrets").symlink_to("/etc/shadow")
    with pytest.raises(UserError, match="inputs/secrets is neither a file nor a folder"):
        publish(stored.folder, shelf, lambda text: None)


def parquet(rows: list[Row], **changed: pa.Array) -> bytes:
    """The file of some rows with other columns in the place of some, which compress well."""
    table, sink = to_table(rows), pa.BufferOutputStream()
    for name, column in changed.items():
        table = table.set_column(table.column_names.index(name), SCHEMA.field(name), column)
    pq.write_table(table, sink, compression="zstd")
    return bytes(sink.getvalue())


def long_row(lying: bool = False) -> bytes:
    """One row of three million zeros. `lying`: the footer says that it is one."""
    count = 3_000_000
    zeros = pa.ListArray.from_arrays(pa.array([0, count], pa.int32()), pa.array(np.zeros(count)))
    data = parquet([row_of(attempt_of())], synced_seconds=zeros)
    length = int.from_bytes(data[-8:-4], "little")
    before, footer = data[: -8 - length], data[-8 - length :]
    # As the footer has it: twice the number, seven bits a byte.
    stated = bytes([*(2 * count >> shift & 0x7F | 0x80 for shift in (0, 7, 14)), 2 * count >> 21])
    assert stated in footer
    return before + footer.replace(stated, b"\x82\x80\x80\x00") if lying else data


def many_texts() -> bytes:
    """The same text in each of a thousand rows, of two hundred thousand letters."""
    rows = [row_of(attempt_of())] * 1000
    return parquet(rows, reason=pa.array(["x" * 200_000] * len(rows)))


GZIPPED = {
    "one member": gzip.compress(bytes(2**28)),
    "its second member": gzip.compress(b"module {}") + gzip.compress(bytes(2**28)),
}


@pytest.mark.parametrize("data", GZIPPED.values(), ids=GZIPPED)
def test_a_gzip_file_made_to_fill_a_disk(stored: ResultSet, shelf: Storage, data: bytes, tmp_path: Path) -> None:
    assert len(data) < 2**20
    refused(shelf, made_up(stored, shelf, {"ir/a/b.mlir.gz": data}), tmp_path / "elsewhere", "b.mlir.gz unpacks from")


@pytest.mark.parametrize(
    "made",
    [long_row, partial(long_row, lying=True), many_texts],
    ids=["one row", "one row, and a footer that lies", "one text, many times"],
)
def test_a_parquet_file_made_to_fill_a_memory(
    stored: ResultSet, shelf: Storage, made: Callable[[], bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Wherever its rows are read: fetched, looked at where they lie, or here. With bounds that a test can pass."""
    monkeypatch.setattr(parquet_files, "ANSWER_BYTES_MAX", 2**23)
    data = made()
    assert len(data) < 2**20
    name = made_up(stored, shelf, {"results.parquet": data})
    said = "would unpack to more than any set has"
    refused(shelf, name, tmp_path / "elsewhere", said)
    with pytest.raises(UserError, match=said):
        fetch.verify(shelf, name)
    with pytest.raises(UserError, match=said):
        fetch.rows_of(shelf, name, NAMES)
    (tmp_path / "results.parquet").write_bytes(data)
    with pytest.raises(UserError, match=said):
        results.load(tmp_path / "results.parquet")


def dictionary_of(text: str, rows: int, **options: Any) -> bytes:
    """Rows that share one text, which is in the file once."""
    shared = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, np.int32)), pa.array([text]))
    table = to_table([row_of(attempt_of())]).take(pa.array(np.zeros(rows, np.int32)))
    at, sink = table.column_names.index("reason"), pa.BufferOutputStream()
    pq.write_table(table.set_column(at, "reason", shared), sink, compression="zstd", **options)
    return bytes(sink.getvalue())


@pytest.mark.parametrize("store_schema", [True, False], ids=["Arrow knows the dictionary", "it doesn't"])
def test_a_file_of_terabytes_is_refused_in_bounded_memory_and_time(tmp_path: Path, store_schema: bool) -> None:
    """At the limits that users have. The reading process, not this one, meets them."""
    path = tmp_path / "results.parquet"
    path.write_bytes(dictionary_of("x" * 2**25, 90_000, store_schema=store_schema))
    assert path.stat().st_size < 2**22
    before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, perf_counter()
    with pytest.raises(Damaged, match="would unpack to more than any set has"):
        results.load(path)
    assert perf_counter() - start < parquet_files.SECONDS_MAX
    assert 1024 * resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < parquet_files.MEMORY_BYTES_MAX
    assert 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) < 2**26


def test_rows_without_end_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "results.parquet"
    path.write_bytes(dictionary_of("x", parquet_files.ROWS_MAX + 1))
    with pytest.raises(Damaged, match="would unpack to more than any set has: 100,000 rows"):
        results.load(path)


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [
        ("SECONDS_MAX", 0.01, r"its reader took more than 0\.01 s"),
        ("MEMORY_BYTES_MAX", 2**26, "can't be read as Parquet"),
        ("FILE_BYTES_MAX", 2**10, "would unpack to more"),
    ],
)
def test_a_reader_that_hangs_dies_or_grows_is_a_sentence(
    stored: ResultSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, limit: str, value: float, said: str
) -> None:
    shutil.copy(stored.results_path, tmp_path)
    monkeypatch.setattr(parquet_files, limit, value)
    with pytest.raises(Damaged, match=said):
        results.load(tmp_path / "results.parquet")
    monkeypatch.undo()
    assert len(results.load(tmp_path / "results.parquet").rows) == 4


def test_a_pipe_in_the_place_of_rows(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "results.parquet")
    with pytest.raises(UserError):
        read_rows(tmp_path / "results.parquet")


@pytest.mark.parametrize(
    ("file", "said"), [("ir/a/b.mlir.gz", "isn't a whole gzip file"), ("results.parquet", "can't be read as Parquet")]
)
def test_what_is_not_what_it_is_called(stored: ResultSet, shelf: Storage, file: str, said: str, tmp_path: Path) -> None:
    refused(shelf, made_up(stored, shelf, {file: b"MZ" * 100}), tmp_path / "elsewhere", said)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"schema_version": 99}, "schema version 99"),
        ({"schema_version": "7"}, "schema version 7"),
        ({"files": {"plan.json": {"sha256": "0" * 63, "bytes": 1}}}, r"expected form.*`\$.files"),
        ({"files": {"plan.json": {"sha256": "0" * 64, "bytes": -1}}}, r"expected form.*`\$.files"),
        ({"files": {"plan.json": {"sha256": "0" * 64, "bytes": True}}}, r"expected form.*`\$.files"),
        ({"files": {"plan.json": {"sha256": "0" * 64, "bytes": 2**50}}}, "more than any set has"),
        ({"files": {"plan.json": "0" * 64}}, "doesn't have the expected form"),
        ({"files": [1]}, "doesn't have the expected form"),
        ({"created_at": 5}, "doesn't have the expected form"),
        ({"name": "2026-03-01.cpu.0000000"}, "but its files make"),
    ],
)
def test_a_manifest_that_lies(
    stored: ResultSet, shelf: Storage, changes: dict[str, Any], said: str, tmp_path: Path
) -> None:
    refused(shelf, made_up(stored, shelf, {}, **changes), tmp_path / "elsewhere", said)


def test_a_manifest_without_end(stored: ResultSet, shelf: Storage, tmp_path: Path) -> None:
    name = made_up(stored, shelf, {}, command="x" * 2**26)
    refused(shelf, name, tmp_path / "elsewhere", "is too large")


def test_another_archive_s_manifest(stored: ResultSet, shelf: Storage, tmp_path: Path) -> None:
    made = publish(stored.folder, shelf, lambda text: None)
    taken = f"2026-03-01.cpu.{32 * '0'}"
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
    for text in (
        json.dumps(found),
        json.dumps({"schema_version": 8, "files": found}),
        json.dumps({"schema_version": 8, "files": {"plan.json": found}}),
    ):
        if text != json.dumps({"schema_version": 8, "files": {}}):
            with pytest.raises(UserError):
                Manifest.parsed(text.encode(), "it")


def test_a_manifest_is_read_as_it_was_written(stored: ResultSet) -> None:
    read = manifest.read(stored.folder)
    assert read.facts == stored.facts() and read.stated == read.name
    assert read.files.keys() == manifest.parts(stored.folder).keys()
