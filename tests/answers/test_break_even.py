"""Totals of each stack at round numbers of steps, and where they cross the baseline's."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from suite.answers.break_even import SORTED_BY, TOTALS, leaders_words
from suite.page.report import Report
from suite.page.sections.timed.comparisons import ComparisonsSection
from suite.results.cases.break_even import Calls
from tests.page.parts import found, part


def test_a_total_is_first_plus_second_plus_the_median_of_each_later_step(made: Report) -> None:
    comparisons = {comparison.name: comparison for comparison in made.analysis.comparisons}
    for line in found(made, "break_even").table.iter_rows(named=True):
        calls = Calls.of(comparisons[line["question"]].of(line["stack"]))
        assert calls
        totals = [line[f"total_{steps}_seconds"] for steps in TOTALS]
        expected = [calls.first, *(calls.first + calls.second + (steps - 2) * calls.steady for steps in TOTALS[1:])]
        assert totals == pytest.approx(expected)


def test_the_least_total_after_a_hundred_steps_is_first(made: Report) -> None:
    for _, lines in found(made, "break_even").table.group_by("question", maintain_order=True):
        assert lines[f"total_{SORTED_BY}_seconds"].is_sorted()


def test_each_question_leads_to_its_totals(made: Report, html_file: Path) -> None:
    text = html_file.read_text(encoding="utf-8")
    links = [view.total_times for view in part(made, ComparisonsSection).views]
    assert all(f'<a href="#{link}">Total time after 1, 10,' in text and f'id="{link}"' in text for link in links)
    charts = re.findall(r"Total time on ([^<,]*)", text)
    assert {*found(made, "break_even").charts} <= {*charts}


def test_the_stretches_of_least_total_do_not_overlap() -> None:
    assert leaders_words([(1, "a"), (44_801, "b")]) == "a up to step 44,800, then b"
    assert leaders_words([(1, "a"), (12, "b"), (41, "c")]) == "a up to step 11, then b up to step 40, then c"
    assert leaders_words([(1, "a")]) == "a from the first step on"


def test_each_stack_without_a_line_is_named_with_its_outcome(made: Report) -> None:
    answer = found(made, "break_even")
    named = {*re.findall(r"(\w+ on [^(,]+) \(", answer.also[-1])}
    cells = {(cell.stack, each.name) for each in made.analysis.comparisons for cell in each.cases}
    shown = {(line["stack"], line["question"]) for line in answer.table.iter_rows(named=True)}
    assert named == {f"{stack} on {question}" for stack, question in cells - shown} != set()
