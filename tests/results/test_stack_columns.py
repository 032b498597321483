"""One entry makes a column: everywhere that it says, and nowhere else."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from suite import results
from suite.report.formats.export import HEADS, export
from suite.report.formats.render import TEMPLATES, page
from suite.report.sections.timed.units import Units
from suite.results import stack_columns
from suite.results.stack_columns import (
    COLUMNS,
    FRAME,
    JSON,
    TIMING,
    ColumnPlace,
    StackColumn,
    columns_in,
    shown_columns,
)
from suite.results.stack_figures import StackFigures
from tests.results.rows import rows_of

SET = Path(__file__).parent / "sets" / "three_questions"


def test_a_place_has_each_name_once_and_the_page_s_columns_have_a_head() -> None:
    for place in ColumnPlace:
        names = [column.name for column in columns_in(place)]
        assert names and len(names) == len(set(names)), place
    macros = (TEMPLATES / "macros" / "columns.html.j2").read_text(encoding="utf-8")
    fields = StackFigures.__dataclass_fields__
    for column in COLUMNS:
        assert bool(column.title) == bool({*column.places} & {ColumnPlace.TIMING, ColumnPlace.CLOCKS}), column.name
        assert f"macro {column.drawn}(value, unit, stack)" in macros
        assert column.unit in ("", *Units.__dataclass_fields__)
        assert column.hidden_without in ("", *fields)


def test_csv_begins_with_the_headline_clock() -> None:
    assert HEADS[7:12] == ("median_seconds", "low_seconds", "high_seconds", "first_seconds", "second_seconds")
    assert HEADS[-3:] == ("peak_bytes", "flags", "predicted_bytes")


def test_one_more_entry_is_a_column_everywhere(monkeypatch: pytest.MonkeyPatch) -> None:
    slowest = StackColumn("p99_seconds", lambda stack: stack.p95, (TIMING, FRAME, JSON), "p99", unit="steady")
    monkeypatch.setattr(stack_columns, "COLUMNS", (*COLUMNS, slowest))
    loaded = results.load(SET)
    frame = loaded.stacks()
    assert list(frame.columns)[-1] == "p99_seconds"
    assert ">p99<small>ms</small></th></tr></thead>" in page(loaded)
    stacks = json.loads(export(loaded).written("json"))["comparisons"][0]["stacks"]
    of_first = frame[frame["comparison"] == "ffn train full"].set_index("stack")["p99_seconds"].dropna()
    assert {stack["stack"]: stack["p99_seconds"] for stack in stacks if "p99_seconds" in stack} == dict(of_first)
    assert len(of_first) == 3
    assert "p99_seconds" not in next(csv.reader(export(loaded).written("csv").splitlines()))


def test_a_column_is_hidden_where_no_stack_has_its_value() -> None:
    loaded = results.Results(Path("set"), None, rows_of({"numpy": [0.02] * 2, "jax_jit": [0.01] * 2}), [], {})
    (comparison,) = loaded.analysis().comparisons
    shown = {column.name for column in shown_columns(ColumnPlace.CLOCKS, comparison.stacks)}
    assert {"fetch_seconds", "relative_error"} <= shown
    assert not shown & {"efficiency", "cores", "page_faults", "kernels"}
