"""Published tables in a page: read, replaced, and what stands outside of them."""

from __future__ import annotations

import pytest

from suite.errors import Damaged, UserError
from tools.figures.markers import Origin, PublishedTable, published_tables, replaced, tables_outside

ORIGIN = Origin(("2026-11-24.cpu.0123456789ab",), {"jax@0.10": {"jax": "0.10.2", "torch": "2.13.0+cpu"}}, (0.98, 1.04))
TABLE = "| a | b |\n| --- | --- |\n| 1 | 2 |\n"
PAGE = (
    f"# Page\n\n{TABLE}\n<!-- figures: one -->\n<!-- /figures -->\n\n<!-- figures: two -->\n{TABLE}<!-- /figures -->\n"
)


def test_a_table_is_read_as_it_was_written() -> None:
    table = PublishedTable("one", ORIGIN, "Words.\n\n| c |\n| --- |\n| 3 |\n")
    page = replaced(PAGE, table)
    assert published_tables(page) == {"one": table, "two": PublishedTable("two", Origin(), TABLE)}
    assert replaced(page, PublishedTable("one", Origin(), "")) == PAGE, "nothing else has changed"
    assert table.written().splitlines()[0].startswith('<!-- figures: one {"sets":["2026-11-24.cpu.0123456789ab"],')


def test_only_tables_between_no_markers_are_outside() -> None:
    assert tables_outside(PAGE) == ["a | b"]
    assert tables_outside(PAGE.replace("<!-- figures: two -->\n", "").replace("<!-- /figures -->\n", "", 2)) == [
        "a | b",
        "a | b",
    ]


@pytest.mark.parametrize(
    ("page", "problem"),
    [
        (PAGE + PAGE, "'one' stand twice"),
        (PAGE.replace("<!-- /figures -->\n", "", 1), "without its other half"),
        (PAGE.replace("figures: one", 'figures: one {"sets": 3}'), "'one' can't be read"),
        (PAGE.replace("figures: one", 'figures: one {"sets"}'), "'one' can't be read"),
    ],
)
def test_a_damaged_marker_is_named(page: str, problem: str) -> None:
    with pytest.raises(Damaged, match=problem):
        published_tables(page)


def test_a_page_without_a_place_says_what_to_put_there() -> None:
    with pytest.raises(UserError, match=r"no place for the figures 'three'.*\n<!-- figures: three -->\n<!-- /figures"):
        replaced(PAGE, PublishedTable("three", Origin(), ""))


def test_a_version_can_t_end_its_marker() -> None:
    with pytest.raises(UserError, match="jax of jax has an invalid version: '1 --> x'"):
        Origin(versions={"jax": {"jax": "1 --> x"}}).to_json()
