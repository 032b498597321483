"""The page and Markdown say which way a set was sampled."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from suite import results
from suite.case import Flag
from suite.page.formats.export import export
from suite.page.formats.render import page
from suite.page.sections.whole_set.method import sampled
from suite.page.sections.whole_set.terms import flag_title
from suite.protocol import Protocol
from suite.sets.rows import Row
from tests.page.test_report import Page
from tests.plan_files import plan_file
from tests.results.rows import rows_of

ROWS = rows_of({"numpy": [0.02] * 3, "jax_jit": [0.01] * 3})


def in_rounds(rows: list[Row], count: int) -> list[Row]:
    """The rows, so many of them sampled in rounds."""
    return [row | {"sampling": "rounds" if number < count else "alone"} for number, row in enumerate(rows)]


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (ROWS, "one process after another"),
        (in_rounds(ROWS, 0), "one process after another"),
        (in_rounds(ROWS, 6), "in rounds"),
        (in_rounds(ROWS, 4), "in rounds (4 of 6 processes), one process after another (2 of 6 processes)"),
        ([], ""),
    ],
)
def test_sampling_in_words(rows: list[Row], words: str) -> None:
    assert sampled(rows) == words


def test_the_page_and_markdown_say_it() -> None:
    rows = in_rounds(ROWS, 6)
    loaded = results.Results(Path("nowhere"), plan_file(), rows, [], {})
    made = Page(page(loaded))
    assert "This set was sampled in rounds." in made.text
    assert made.text.count("The constant samples max is then about the samples of the turns") == 1
    assert "- Sampled: in rounds\n" in export(loaded).written("md")
    alone = replace(loaded, rows=in_rounds(ROWS, 0))
    other = Page(page(alone)).text
    assert "This set was sampled one process after another." in other and "samples max is then" not in other


def test_the_flag_assumed_is_about_the_samples_before_the_first_turn() -> None:
    """A process of many turns may have it."""
    title = flag_title(Flag.ASSUMED, "2/5", Protocol())
    assert title.startswith("Fewer than 40 samples") and title.endswith("(2 of 5 processes)")
    assert "sampled in rounds, these are only its samples before its first turn" in title
