"""Sets of earlier versions read as today's: names, ids and columns."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite import results
from suite.archive.fetch import fetch, verify
from suite.archive.place import Place
from suite.archive.publish import publish
from suite.case import Case
from suite.report.formats.render import render
from suite.results.store import migrations
from suite.results.store.result_set import ResultSet
from suite.results.store.schema import NAMES, SCHEMA_VERSION
from tests.results.rows import attempt_of, row_of

SETS = Path(__file__).parents[1] / "sets"  # one of each earlier version, as its program wrote it, without `attempts/`
SET = SETS / "v2"
EARLIER = range(1, SCHEMA_VERSION)


@pytest.fixture(scope="module")
def loaded() -> results.Results:
    return results.load(SET)


def test_rows_have_todays_columns_sizes_and_ids(loaded: results.Results) -> None:
    assert len(loaded.rows) == 60
    for row in loaded.rows:
        assert list(row) == list(NAMES)
        assert row["schema_version"] == 2  # of the program that measured it
        assert row["retry"] == 1
        case = Case.of_row(row)
        assert (row["case_id"], row["case_name"], row["comparison_id"]) == (
            case.case_id,
            case.case_name,
            case.comparison_id,
        )
    assert {(row["workload"], row["size"]) for row in loaded.rows} == {
        ("gemm", "tiny"),
        ("ffn", "full"),
        ("llama", "tiny"),
    }
    inferred = {row["inferred_from"] for row in loaded.rows if row["provenance"] == "inferred"}
    assert {text.split(",")[0] for text in inferred} == {"ffn-full-train-f32-cpu-system_allocator-640MiB-torch_xla"}


def test_the_plan_and_the_rows_name_the_same_cases(loaded: results.Results) -> None:
    assert loaded.plan is not None and loaded.plan.schema_version == 2
    planned = {attempt.case.case_id for attempt in loaded.plan.attempts}
    assert planned == {row["case_id"] for row in loaded.rows} == {each.case.case_id for each in loaded.plan.cases}
    assert {attempt.retry for attempt in loaded.plan.attempts} == {1}
    [refused] = [each for each in loaded.plan.cases if each.unsupported]
    assert loaded.plan.reason(refused.case) == refused.unsupported
    assert (loaded.plan.target, loaded.plan.engine) == ("cpu", "local")
    assert loaded.protocol.roofline and loaded.roofline["flops_per_second_best"] > 1e9


def test_the_stored_set_is_as_it_was_sealed() -> None:
    assert ResultSet.open(SET).problems() == []
    assert [(block.block, block.retry) for block in ResultSet.open(SET).blocks()] == [(n, 1) for n in (1, 2, 3, 4)]


def test_a_bare_file_of_an_earlier_version_is_read_alike(loaded: results.Results) -> None:
    assert results.load(SET / "results.parquet").rows == loaded.rows


def test_what_had_no_process_is_not_noisy() -> None:
    """Version 2 wrote the flag on rows of unsupported cases, too."""
    row = row_of(attempt_of(), outcome="unsupported", flags=["noisy", "unpinned"]) | {"schema_version": 2}
    assert migrations.row(row)["flags"] == ["unpinned"]
    assert migrations.row(row | {"outcome": "ok"})["flags"] == ["noisy", "unpinned"]
    assert migrations.row(row | {"schema_version": 3})["flags"] == ["noisy", "unpinned"]


@pytest.mark.parametrize("version", EARLIER)
def test_a_set_of_every_earlier_version_is_read_rendered_and_archived(version: int, tmp_path: Path) -> None:
    folder = SETS / f"v{version}"
    store = ResultSet.open(folder)
    assert store.plan.schema_version == version and store.problems() == []
    loaded = results.load(folder)
    for row in loaded.rows:
        case = Case.of_row(row)
        assert list(row) == list(NAMES) and row["schema_version"] == version
        assert (row["case_id"], row["case_name"]) == (case.case_id, case.case_name)
    assert {row["case_id"] for row in loaded.rows} == {attempt.case.case_id for attempt in store.plan.attempts}
    assert any(row["outcome"] == "ok" and row.median() for row in loaded.rows)
    assert render(folder, tmp_path / "report.html").stat().st_size > 10_000
    place = Place.of(str(tmp_path / "shelf"))
    made = publish(folder, place, print)
    assert verify(place, made.name) == []
    fetched = fetch(place, made.name, tmp_path / "results")
    assert results.load(fetched).rows == loaded.rows
