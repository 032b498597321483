"""Markdown, CSV and JSON of tables: whatever a name says, it stays a cell."""

from __future__ import annotations

import csv
import io
import json
import math
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.page.tables import MOST_LINES, Export, Table, escaped, field, markdown, spreadsheet

HOSTILE = st.text() | st.text(alphabet="|\\`<>&_*[]()\n\r\t =+-@'\"a,;~")
VALUES = HOSTILE | st.floats() | st.integers() | st.none()


def cells(line: str) -> list[str]:
    """A line of a Markdown table, cut where a pipe isn't escaped."""
    return re.findall(r"((?:\\.|[^\\|])*)\|", line)[1:]


@given(st.lists(st.lists(HOSTILE, min_size=3, max_size=3), min_size=1, max_size=5))
def test_a_line_has_as_many_cells_as_the_head(lines: list[list[str]]) -> None:
    shown = markdown(Table("a title", ["a", "b|c", "`d`"], lines, numbers=["a"])).splitlines()[2:]
    assert len(shown) == 2 + len(lines)
    assert {len(cells(line)) for line in shown} == {3}


@given(HOSTILE)
def test_text_stays_text_in_markdown(text: str) -> None:
    shown = escaped(text)
    assert "\n" not in shown and "<" not in shown and not re.search(r"(?<!\\)(?:\\\\)*[`*]", shown)
    assert not re.search(r"\](?:\(|\[|:)", shown)
    back = re.sub(r"\\([\\`*|~_(:\[])", r"\1", shown)
    assert back.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&") == " ".join(text.split())


def test_what_names_usually_have_is_left_alone() -> None:
    for text in ("jax_jit@nightly", "1.42× [1.35, 1.50] faster", "gemm-tiny-forward-f32-cpu", "n = 1,024"):
        assert escaped(text) == text
    assert escaped("a|b <img> [x](y) _z_") == r"a\|b &lt;img&gt; [x]\(y) \_z\_"


@given(st.lists(st.lists(VALUES, min_size=2, max_size=2), max_size=5))
def test_csv_comes_back_by_its_reader(lines: list[list[str | float | int | None]]) -> None:
    head, *back = csv.reader(io.StringIO(spreadsheet(["a", "b"], lines)))
    assert head == ["a", "b"]
    assert back == [["" if field(value) is None else str(field(value)) for value in line] for line in lines]


@given(HOSTILE)
def test_no_text_is_a_formula(text: str) -> None:
    shown = field(text)
    assert isinstance(shown, str) and not shown.startswith(("=", "+", "-", "@"))
    assert shown.removeprefix("'") == " ".join(text.split()).removeprefix("'")


def test_numbers_are_numbers() -> None:
    assert field(-1.5) == -1.5 and field(0) == 0
    assert field(math.nan) is None and field(math.inf) is None


def test_json_has_no_word_for_what_is_not_finite() -> None:
    told = Export((), (), (), {"a": [math.nan, 1.0, {"b": math.inf}], "c": "µs"})
    assert json.loads(told.written("json")) == {"a": [None, 1.0, {"b": None}], "c": "µs"}


@pytest.mark.parametrize(("count", "folded"), [(MOST_LINES, False), (MOST_LINES + 1, True)])
def test_a_long_table_is_folded(count: int, folded: bool) -> None:
    shown = markdown(Table("t", ["a"], [["x"]] * count))
    assert ("<details>" in shown) == folded and shown.count("| x |") == count
