"""A small whole set."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from suite.sets.result_set import ResultSet
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
