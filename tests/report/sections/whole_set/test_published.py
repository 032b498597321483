"""Published times beside measured ones, and which of them can't be."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from suite import results
from suite.report.formats.export import export
from suite.report.formats.render import page
from suite.report.page import report
from suite.report.sections.whole_set.published import PublishedSection
from suite.sets.rows import Row
from suite.sets.schema import to_table
from suite.workloads import catalog
from tests.report.parts import part
from tests.results.rows import attempt_of, row_of

DIMS = catalog.find()["gpt2"].dims("full", {"batch": 2, "seq": 64})


def step(stack: str, seconds: float, **case: Any) -> Row:
    """A row of the study's training step of GPT-2."""
    asked = {"workload": "gpt2", "size": "full", "dims": DIMS, "pass_": "train"} | case
    return row_of(attempt_of(stack, **asked), seconds, dialect="jax", fetch_seconds=[2 * seconds] * 3)


def stored(folder: Path, *rows: Row) -> results.Results:
    """The rows as a set."""
    pq.write_table(to_table(rows), folder / "results.parquet")
    return results.load(folder / "results.parquet")


def test_the_study_s_time_stands_beside_ours_and_is_called_impossible(tmp_path: Path) -> None:
    loaded = stored(tmp_path, step("jax_jit", 0.9), step("torch_eager", 1.1))
    (row,) = part(report(loaded), PublishedSection).rows
    assert (row.stack, row.published, row.device) == ("jax_jit", 0.708e-3, "v6e")
    assert row.here == pytest.approx(0.9)
    assert row.bound == "1.66 ms: can't be"
    html = page(loaded)
    assert "published 708 µs on a v6e can&#39;t be a whole step, which takes at least 1.66 ms there" in html
    told = export(loaded).data["published"]
    assert told[0]["least"] == pytest.approx(1.657e-3, rel=1e-3) and told[0]["verdict"] == "can't be"


def test_a_stack_without_a_time_that_counts_leaves_ours_open(tmp_path: Path) -> None:
    wrong = step("jax_jit", 0.9) | {"outcome": "wrong", "reason": "loss"}
    (row,) = part(report(stored(tmp_path, wrong, step("torch_eager", 1.1))), PublishedSection).rows
    assert row.here is None and row.line()[5] == "–"


def test_a_time_with_the_copy_to_the_host_stands_beside_ours_with_it(tmp_path: Path) -> None:
    case = {"workload": "gemm", "dims": {"n": 3000}, "pass_": "forward"}
    rows = part(report(stored(tmp_path, step("jax_eager", 0.2, **case))), PublishedSection).rows
    assert {(row.device, row.ends): row.here for row in rows if row.stack == "jax_eager"} == {
        ("CPU", "device"): pytest.approx(0.2),
        ("GPU", "host"): pytest.approx(0.4),
        ("TPU", "host"): pytest.approx(0.4),
        ("TPU", "device"): pytest.approx(0.2),
    }
    assert {row.bound for row in rows} == {"chip not named"}


def test_another_size_is_another_question(tmp_path: Path) -> None:
    assert report(stored(tmp_path, step("jax_jit", 0.9, dims=DIMS | {"batch": 4}))).section(PublishedSection) is None
