"""What was asked in two ways on the report's page; two sets as a page of their own."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from suite import results
from suite.report.between_sets import of_sets, of_ways, told_sets
from suite.report.formats.compare_page import compare_page, set_facts
from suite.report.formats.render import page as report_page
from suite.results.between_sets import Across, across
from suite.results.store.rows import Row
from suite.results.within_set import within
from tests.plan_files import plan_file
from tests.report.test_page import Page
from tests.results.rows import attempt_of, row_of
from tests.results.test_between_sets import times

NOISE = (0.995, 1.0, 1.005)
BAD = '"><script>alert(1)</script>'


def rows_of_set(slower: float = 1.0, **change: object) -> list[Row]:
    """Two stacks, three blocks, forward and train."""
    return [
        row_of(attempt_of(stack, block, pass_=pass_), 0.01 * noise * pace) | change
        for stack, pace in (("numpy", 1.0), ("jax_jit", slower))
        for pass_ in ("forward", "train")
        for block, noise in enumerate(NOISE, 1)
    ]


def loaded(rows: list[Row], name: str = "set") -> results.Results:
    """As a set."""
    return results.Results(Path("nowhere"), plan_file(set_id=name), rows, [], {"cpu_model": BAD})


def html(found: list[Across], rows: list[Row]) -> Page:
    """The page of comparisons."""
    return Page(compare_page(of_sets(found, 1.05, 1.03), [loaded(rows, f"set-{number}") for number in range(2)]))


def test_two_sets_are_a_page_that_is_whole() -> None:
    before, after = rows_of_set(versions='{"jax": "1.0"}'), rows_of_set(1.5, versions='{"jax": "1.1"}')
    other = rows_of_set(size="odd", case_id="z")[:1]
    found = across(times("a", before, 1.0e11), times("b", [*after[:-3], *other], 1.02e11))
    page = html([found], before)
    assert page.open == [] and len(page.all("script")) == 1 and page.all("img") == []
    text = " ".join(page.text.split())
    for said in (
        "b against a",
        "cases changed",
        "jax 1.0 → 1.1 (numpy)",
        "f32 ceilings in the two runs differ by 2 %",
        "The middle of all ratios",
        "In one set alone: 2",
        "▼ slower",
    ):
        assert said in text, said
    figures = [svg for svg in page.all("svg") if svg.get("role") == "img"]
    assert len(figures) == 2, "a figure a question"
    assert len({attrs["id"] for _, attrs in page.elements if "id" in attrs}) == sum(
        "id" in attrs for _, attrs in page.elements
    )
    [policy] = [meta["content"] for meta in page.all("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy and policy.startswith("default-src 'none'")


def test_figures_share_one_axis() -> None:
    (compared,) = of_sets([across(times("a", rows_of_set()), times("b", rows_of_set(3.0)))], 1.05, 1.03)
    assert len({plot.ticks for plot in compared.plots}) == 1 and len({plot.line for plot in compared.plots}) == 1


def test_unlike_sets_and_lost_cases_are_shown_without_a_verdict() -> None:
    broken = [
        row | {"outcome": "timeout", "synced_seconds": None} if row["stack"] == "numpy" else row
        for row in rows_of_set()
    ]
    found = across(times("a", rows_of_set()), times("b", broken))
    assert "ok → timeout" in html([found], broken).text
    assert any("ok → timeout" in line for line in told_sets([found], 1.05, 1.03).tables[0].lines)
    unlike = across(times("a", rows_of_set()), times("b", rows_of_set(2.0, machine_id="other")))
    page = html([unlike], broken)
    assert "differ in machine: nothing is called faster" in page.text and "slower" not in page.text


def test_the_page_has_a_section_of_what_was_asked_in_two_ways() -> None:
    page = Page(report_page(loaded(rows_of_set())))
    assert page.open == [] and "The same, asked in two ways" in page.text
    assert {"ways", "w-pass"} <= {attrs.get("id") for _, attrs in page.elements}
    assert "1.00×" in page.text.partition("Forward and training step")[2]
    once = Page(report_page(loaded([row for row in rows_of_set() if row["pass"] == "forward"])))
    assert "asked in two ways" not in once.text and not any(a.get("href") == "#ways" for a in once.all("a"))


@pytest.mark.parametrize(("stacks", "folded"), [(12, False), (13, True)])
def test_a_long_section_is_folded(stacks: int, folded: bool) -> None:
    rows = [
        row_of(attempt_of("numpy", block, variant=f"v{stack}", pass_=pass_), 0.01)
        for stack in range(stacks)
        for pass_ in ("forward", "train")
        for block in (1, 2)
    ]
    made = results.Results(Path("nowhere"), plan_file(baseline="numpy@v0"), rows, [], {})
    text = report_page(made)
    section = re.search(r'<section id="w-pass">.*?</section>', text, re.DOTALL)
    assert section and ("<details>" in section[0]) == folded and section[0].count("<tr><th scope") == stacks


def test_one_set_in_two_ways_is_a_page_too() -> None:
    made = loaded(rows_of_set())
    ways = within(made.rows, "pass", made.protocol)
    assert ways is not None
    page = Page(compare_page([of_ways(ways, ways.base, 1.03)], [made]))
    assert page.open == [] and "Forward and training step" in page.text and "block by block" in page.text


def test_a_set_of_changed_source_says_so(tmp_path: Path) -> None:
    (tmp_path / "inputs").mkdir()
    (tmp_path / "inputs" / "revision.txt").write_text("0123456789abcdef\n")
    there = replace(loaded(rows_of_set()), path=tmp_path)
    assert [fact.value for fact in set_facts(there) if fact.name == "Revision"] == ["0123456789ab"]
    (tmp_path / "inputs" / "diff.patch").write_text("--- a\n+++ b\n")
    assert [fact.value for fact in set_facts(there) if fact.name == "Revision"] == ["0123456789ab, modified"]
