"""A set's entry in a site shows what the set's own page shows."""

from __future__ import annotations

from pathlib import Path

from suite.extras.site.entry import questions
from suite.page.report import Report
from suite.results import Results
from suite.sets.listing import Listed
from tests.page.map.test_frames import restless
from tests.plan_files import plan_file


def test_a_site_s_maps_have_the_frames_of_the_set_s_page() -> None:
    made = Report(Results(Path("a-set"), plan_file(), [], [], {}), restless(1))
    assert made.overview
    rows = made.overview.shown.rows
    for row, entry in zip(rows, questions(made, Listed("", "", {})), strict=True):
        framed = {stack for stack, square in zip(made.overview.stacks, row.squares, strict=True) if square.leads}
        assert {stack for stack, square in entry.squares.items() if square.leads} == framed != set()
