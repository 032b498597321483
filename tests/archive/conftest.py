"""A small whole set, a folder and a real S3 server to publish it to."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

import pytest

from suite.archive.storage import Storage
from suite.results.store.result_set import ResultSet
from tests.archive.s3 import BUCKET, Server
from tests.results.rows import attempt_of, make_set, record, row_of


@pytest.fixture
def stored(tmp_path: Path) -> ResultSet:
    """Of two stacks and two blocks, with an input, a page and a program."""
    rows = [row_of(attempt_of(stack, block)) for stack in ("numpy", "jax_jit") for block in (1, 2)]
    store = make_set(tmp_path / "results" / "a-set", rows, [record(1, 1), record(2, 1)])
    (store.folder / "inputs" / "quick.toml").write_text("title = 'a preset'\n")
    (store.folder / "report.html").write_text("<p>a page</p>")
    (store.folder / "ir" / "one").mkdir(parents=True)
    (store.folder / "ir" / "one" / "first.mlir.gz").write_bytes(gzip.compress(b"module {}\n" * 1000))
    store.commit()
    return store


@pytest.fixture
def shelf(tmp_path: Path) -> Storage:
    """A folder for archives."""
    return Storage.of(str(tmp_path / "shelf"))


@pytest.fixture(params=["folder", "s3"])
def place(request: pytest.FixtureRequest) -> Storage:
    """Each kind of place, by the same code."""
    return request.getfixturevalue("shelf" if request.param == "folder" else "bucket")  # type: ignore[no-any-return]


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One S3 server for all tests."""
    one = Server(tmp_path_factory.mktemp("s3"))
    try:
        one.start()
        yield one
    finally:
        one.kill()


@pytest.fixture
def bucket(server: Server, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Storage:
    """A prefix of a test's own on the server, with the key in the environment."""
    for name, value in server.environment.items():
        monkeypatch.setenv(name, value)
    return Storage.of(f"s3://{BUCKET}/{request.node.name.replace('[', '-').replace(']', '')}")
