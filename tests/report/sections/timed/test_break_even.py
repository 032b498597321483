"""The section "Total time over steps": totals of each stack at round numbers of steps, in a table that is sorted."""

from __future__ import annotations

import re
from pathlib import Path

from suite.report.page import Report
from suite.report.sections.timed.break_even import SORTED_BY, TOTALS, BreakEvenSection, leaders_words
from suite.report.sections.timed.comparisons import ComparisonsSection
from tests.report.parts import part


def test_a_total_is_first_plus_second_plus_the_median_of_each_later_step(made: Report) -> None:
    for view in part(made, BreakEvenSection).views:
        for row in view.rows:
            first, second, steady = row.calls.first, row.calls.second, row.calls.steady
            assert row.seconds == (first, *(first + second + (steps - 2) * steady for steps in TOTALS[1:]))
            assert row.totals == tuple(unit.show(total) for unit, total in zip(view.units, row.seconds, strict=True))


def test_the_least_total_after_a_hundred_steps_is_first(made: Report) -> None:
    for view in part(made, BreakEvenSection).views:
        at = [row.calls.total(SORTED_BY) for row in view.rows]
        assert at == sorted(at)
        assert [row.calls.stack for row in view.rows] != [stack.stack for stack, _ in view.known], "not by the median"


def test_the_table_can_be_sorted_says_its_sum_and_is_linked_from_its_question(made: Report, html_file: Path) -> None:
    text = html_file.read_text(encoding="utf-8")
    section = text[text.index('id="break-even"') :]
    tables = re.findall(r'<table class="sortable">\s*<caption><b>Total time.*?</table>', section, re.DOTALL)
    views = part(made, BreakEvenSection).views
    assert len(tables) == len(views) > 1
    assert all("first call + second call + (steps − 2) × median" in table for table in tables)
    assert all('data-v="' in table for table in tables)
    links = [view.total_times for view in part(made, ComparisonsSection).views]
    assert links == [view.id for view in views]
    assert all(f'<a href="#{link}">Total time after 1, 10,' in text and f'id="{link}"' in text for link in links)


def test_the_stretches_of_least_total_do_not_overlap_and_are_by_the_medians(made: Report, html_file: Path) -> None:
    assert leaders_words([(1, "a"), (44_801, "b")]) == "a up to step 44,800, b from there on"
    assert leaders_words([(1, "a"), (12, "b"), (41, "c")]) == "a up to step 11, b up to step 40, c from there on"
    assert leaders_words([(1, "a")]) == "a from the first step on"
    text = html_file.read_text(encoding="utf-8")
    for view in part(made, BreakEvenSection).views:
        assert f"<summary>{view.name}, by the medians: {view.leaders}</summary>" in text


def test_each_stack_without_a_line_is_named_with_its_outcome(made: Report, html_file: Path) -> None:
    text = html_file.read_text(encoding="utf-8")
    views = part(made, BreakEvenSection).views
    for view in views:
        cells = next(comparison for comparison in made.analysis.comparisons if comparison.name == view.name).cells
        absent = {cell.stack for cell in cells} - {stack.stack for stack, _ in view.known}
        assert {words.split(" on ")[0] for words in view.left_out} == absent
        assert not view.left_out or f"<p>Not in the table: {', '.join(view.left_out)}.</p>" in text
    assert any(view.left_out for view in views), "some stack of the set has no time"
