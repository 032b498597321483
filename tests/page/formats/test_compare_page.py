"""Comparisons within one set on the report's page, and the page that compares two sets."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from suite import results
from suite.page.between_sets import compared_field, compared_sets, exported
from suite.page.formats.compare_page import compare_page, set_facts
from suite.page.formats.render import page as report_page
from suite.results.between_sets import SetPair, compare_sets
from suite.results.within_set import compare_field
from suite.sets.rows import Row
from tests.page.test_report import Page
from tests.plan_files import plan_file
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


def html(found: list[SetPair], rows: list[Row]) -> Page:
    """The page of comparisons."""
    return Page(compare_page(compared_sets(found, 1.05, 1.03), [loaded(rows, f"set-{number}") for number in range(2)]))


def test_two_sets_are_a_page_that_is_whole() -> None:
    before, after = rows_of_set(versions='{"jax": "1.0"}'), rows_of_set(1.5, versions='{"jax": "1.1"}')
    other = rows_of_set(size="odd", case_id="z")[:1]
    found = compare_sets(times("a", before, 1.0e11), times("b", [*after[:-3], *other], 1.02e11))
    page = html([found], before)
    assert page.open == [] and len(page.all("script")) == 1 and page.all("img") == []
    text = " ".join(page.text.split())
    for said in (
        "b against a",
        "cases changed",
        "jax 1.0 → 1.1",
        "f32 ceilings in the two runs differ by 2 %",
        "The median of all ratios",
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


def test_the_map_has_a_square_for_every_case_and_says_what_moved() -> None:
    before = rows_of_set()
    after = [
        row | {"outcome": "oom_host", "synced_seconds": None}
        if (row["stack"], row["pass"]) == ("numpy", "train")
        else row
        for row in rows_of_set(1.5)
        if (row["stack"], row["pass"]) != ("jax_jit", "train")
    ]
    found = compare_sets(times("a", before), times("b", after))
    (compared,) = compared_sets([found], 1.05, 1.03)
    assert compared.map is not None and compared.map.columns == ("numpy", "jax_jit"), "the catalogue's order"
    squares = {
        (row.name, stack): square
        for row in compared.map.rows
        for stack, square in zip(compared.map.columns, row.squares, strict=True)
    }
    forward, train = ("gemm-tiny-forward-f32-cpu", "gemm-tiny-train-f32-cpu")
    assert (squares[forward, "numpy"].kind, squares[forward, "numpy"].colour) == ("tie", "")
    slower = squares[forward, "jax_jit"]
    assert (slower.kind, slower.words) == ("slower", "0.667×") and slower.colour in ("s2", "s3")
    assert squares[train, "numpy"].kind == "memory" and squares[train, "numpy"].words == "ok → out of host memory"
    assert squares[train, "jax_jit"].kind == "unplanned", "in one set alone"
    assert [(case.stack, case.name) for case in compared.moved_cases] == [("numpy", train), ("jax_jit", forward)]
    page = html([found], before)
    assert page.open == [] and "What moved" in page.text and "ok → out of host memory" in page.text


def test_the_map_of_unlike_sets_has_no_verdict_and_no_colour() -> None:
    found = compare_sets(times("a", rows_of_set()), times("b", rows_of_set(2.0, machine_id="other")))
    (compared,) = compared_sets([found], 1.05, 1.03)
    assert compared.map is not None and compared.moved_cases == ()
    squares = [square for row in compared.map.rows for square in row.squares]
    assert {(square.kind, square.colour) for square in squares} == {("measured", "")}


def test_what_is_undecided_says_so_before_its_size() -> None:
    restless = [row | {"synced_seconds": [0.01 * 1.5 ** row["block"]] * 5} for row in rows_of_set()]
    (compared,) = compared_sets([compare_sets(times("a", rows_of_set()), times("b", restless))], 1.05, 1.03)
    assert compared.map is not None
    square = compared.map.rows[0].squares[0]
    assert (square.kind, square.words, square.colour) == ("undecided", "undecided", "") and "×" in square.small


def test_figures_share_one_axis() -> None:
    (compared,) = compared_sets([compare_sets(times("a", rows_of_set()), times("b", rows_of_set(3.0)))], 1.05, 1.03)
    assert (
        len({plot.across for plot in compared.plots if plot})
        == 1
        == len({plot.ticks for plot in compared.plots if plot})
    )


def test_unlike_sets_and_lost_cases_are_shown_without_a_verdict() -> None:
    broken = [
        row | {"outcome": "timeout", "synced_seconds": None} if row["stack"] == "numpy" else row
        for row in rows_of_set()
    ]
    found = compare_sets(times("a", rows_of_set()), times("b", broken))
    assert "ok → timeout" in html([found], broken).text
    [*_, line] = exported(compared_sets([found], 1.05, 1.03)).tables[0].lines
    assert line[1:6] == ["numpy", "ok", "timeout", "10.0 ms", "–"]
    unlike = compare_sets(times("a", rows_of_set()), times("b", rows_of_set(2.0, machine_id="other")))
    page = html([unlike], broken)
    assert "differ in machine-id: nothing is called faster" in page.text and "slower" not in page.text


def test_the_page_has_a_section_of_what_was_asked_in_two_ways() -> None:
    page = Page(report_page(loaded(rows_of_set())))
    assert page.open == [] and "One stack under two settings" in page.text
    assert "ways" in {attrs.get("id") for _, attrs in page.elements}
    assert "1.00×" in page.text.partition("One stack under two settings")[2]
    once = Page(report_page(loaded([row for row in rows_of_set() if row["pass"] == "forward"])))
    assert "under two settings" not in once.text and not any(a.get("href") == "#ways" for a in once.all("a"))


def test_one_set_in_two_ways_is_a_page_too() -> None:
    made = loaded(rows_of_set())
    comparison = compare_field(made.rows, "pass", made.protocol)
    assert comparison is not None
    page = Page(compare_page([compared_field(comparison, comparison.base, "a-set", 1.03)], [made]))
    assert page.open == [] and "Forward and training step" in page.text and "block by block" in page.text


def test_a_set_of_changed_source_says_so(tmp_path: Path) -> None:
    (tmp_path / "inputs").mkdir()
    (tmp_path / "inputs" / "revision.txt").write_text("0123456789abcdef\n")
    there = replace(loaded(rows_of_set()), path=tmp_path)
    assert set_facts(there)["Revision"] == "0123456789ab"
    (tmp_path / "inputs" / "diff.patch").write_text("--- a\n+++ b\n")
    assert set_facts(there)["Revision"] == "0123456789ab, modified"
