"""The figures that a page of few questions begins with: places and words are the table's numbers, by stacks and by
frameworks, and a row leads to the panel of the map's cell."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from suite import results
from suite.answers.figures.figure import Figure
from suite.page.formats.render import page
from suite.page.map.cells import Square
from suite.page.map.controls import DOTS_MOST, PageMap
from suite.page.map.frameworks import pairs
from suite.page.report import Report
from suite.page.sections.timed.comparisons import ComparisonsSection
from suite.stats import Estimate
from tests.browser import NARROW, Tabs, fits, told, violations
from tests.page.parts import part
from tests.results.rows import rows_of

TIMES = {"torch_eager": 0.020, "torch_inductor": 0.018, "jax_jit": 0.010, "jax_eager": 0.030, "tf_xla": 0.036}


def of_times(questions: int = 1) -> results.Results:
    """A set of five stacks of three frameworks; the second question has other best ones."""
    rows = []
    for place in range(questions):
        paces = dict(zip(TIMES, [*TIMES.values()][:: 1 if place % 2 == 0 else -1], strict=True))
        measured = {stack: [pace, pace * 1.01, pace * 0.99, pace * 1.005] for stack, pace in paces.items()}
        rows += rows_of(measured, dims={"n": 64 + place})
    return results.Results(Path("x"), None, rows, [], {})


def check_row(figure: Figure, name: str, ratio: Estimate, square: Square) -> None:
    """Its dot and interval lie where the ratio is, and the words are those of the map's cell."""
    percent = figure.across.percent
    marks = {mark["shape"]: mark for mark in figure.drawn[name]}
    assert marks["mark"]["x"] == percent(ratio.value) and marks["mark"]["kind"] == square.kind
    assert ratio.low and ratio.high
    assert (marks["span"]["low"], marks["span"]["high"]) == (percent(ratio.low), percent(ratio.high))
    size = square.small if square.kind == "undecided" else f"{square.words} {square.small}"
    assert figure.values[figure.names.index(name)] == f"{square.own} {square.sign} {size}"


def test_dots_lie_at_the_table_s_ratios_over_every_baseline(loaded: results.Results) -> None:
    seen, absent = 0, 0
    for baseline in PageMap(loaded.analysis()).baselines:
        made = Report(loaded, loaded.analysis(baseline))
        assert made.overview
        views = part(made, ComparisonsSection).views
        for view, row in zip(views, made.overview.shown.rows, strict=True):
            squares, figure = dict(zip(made.overview.stacks, row.squares, strict=True)), view.speedups
            assert {*figure.names} == {case.stack for case in view.comparison.cases}, "no case is dropped"
            assert all(figure.links[stack] == squares[stack].href for stack in figure.names)
            for case in view.comparison.cases:
                if case.speedup and case.speedup.ratio.low:
                    check_row(figure, case.stack, case.speedup.ratio, squares[case.stack])
                    seen += 1
                elif not case.counts:
                    assert [mark["shape"] for mark in figure.drawn[case.stack]] == []
                    assert figure.values[figure.names.index(case.stack)]
                    absent += 1
    assert seen > 150 and absent > 8


def test_a_framework_s_dot_is_that_of_its_best_stack_over_the_baseline_s_best() -> None:
    analysis = of_times(2).analysis("torch_eager")
    overview = PageMap(analysis)
    for comparison, row, figures in zip(
        analysis.comparisons, overview.by_framework.rows, overview.best_dots, strict=True
    ):
        squares = dict(zip(overview.by_framework.columns, row.squares, strict=True))
        figure = next(it for baselines, it in figures if "torch_eager" in baselines)
        assert figure and {*figure.names} == {"PyTorch", "JAX", "TensorFlow"}
        for pair in pairs(comparison, analysis.pairing):
            framework, base = pair.names
            assert (squares[framework].of, squares[base].of) == (pair.ours.stack, pair.base.stack)
            assert figure.below[framework] == pair.ours.stack
            assert figure.links[framework] == squares[framework].href and pair.ours.stack in squares[framework].href
            check_row(figure, framework, pair.speedup.ratio, squares[framework])


@pytest.mark.parametrize("number", [DOTS_MOST, DOTS_MOST + 1])
def test_a_page_of_few_questions_begins_with_figures_and_one_of_many_with_the_map(number: int) -> None:
    text = page(of_times(number), "torch_eager")
    assert ('<div id="dots">' in text) == ('<details class="as-map">' in text) == (number <= DOTS_MOST)
    assert len(re.findall(r'class="plot dots" data-over="torch_eager"', text)) == number, "in one place each"


@pytest.fixture
def html(tmp_path: Path) -> Path:
    """The page of two questions."""
    file = tmp_path / "report.html"
    file.write_text(page(of_times(2), "torch_eager"), encoding="utf-8")
    return file


def test_a_row_opens_the_panel_of_the_map_s_cell_and_takes_the_keyboard_back(tabs: Tabs, html: Path) -> None:
    tab = tabs.open(html)
    assert not tab.locator("#map").is_visible()
    figure = tab.locator("#dots figure:visible").first
    figure.locator("g[data-row='1'] a").click()
    panel = tab.locator(".panel.open")
    stack = str(figure.locator("text.label").nth(1).text_content())
    assert panel.get_attribute("data-stack") == stack
    (link,) = tab.locator(f"#map .asked td[data-stack={stack}] a[href='#{panel.get_attribute('id')}']").all()
    assert link.get_attribute("href") == f"#{panel.get_attribute('id')}"
    tab.keyboard.press("Escape")
    assert tab.evaluate("document.activeElement.textContent") == stack
    tab.keyboard.press("ArrowUp")
    tab.keyboard.press("Enter")
    assert panel.get_attribute("data-stack") == figure.locator("text.label").first.text_content()


SHOWN = """
const rows = "#frameworks .asked tr";
out.dots = all("#dots figure").filter(visible).map(figure => [...figure.querySelectorAll("text.label")].map(text));
out.values = all("#dots figure").filter(visible).map(figure => [...figure.querySelectorAll("text.value")].map(text));
all("details").forEach(box => { box.open = true; });
out.map = all(rows).map(row => [...row.querySelectorAll("td")].map(cell => [cell.dataset.stack,
  text(cell.querySelector(".of")), text(cell.querySelector(".w")), text(cell.querySelector(".own"))]));
out.stacks = visible(document.getElementById("map"))"""


@pytest.mark.parametrize("baseline", ["torch_eager", "jax_eager"])
def test_by_frameworks_is_in_the_address_and_follows_the_baseline(tabs: Tabs, html: Path, baseline: str) -> None:
    tab = tabs.open(html)
    tab.locator("#controls [name=by]").select_option("frameworks")
    tab.locator("#controls [name=baseline]").select_option(baseline)
    assert "by=frameworks" in tab.url
    tab.reload()
    out, analysis = told(tab, SHOWN), of_times(2).analysis(baseline)
    assert not out["stacks"] and [len(names) for names in out["dots"]] == [3, 3]
    for comparison, cells, names, values in zip(
        analysis.comparisons, out["map"], out["dots"], out["values"], strict=True
    ):
        found = {framework: (stack, words, own) for framework, stack, words, own in cells}
        for pair in pairs(comparison, analysis.pairing):
            stack, words, own = found[pair.names[0]]
            assert stack == pair.ours.stack and values[names.index(pair.names[0])].startswith(own)
            assert f"{pair.speedup.ratio.value:#.3g}".rstrip(".") in words
    with tab.expect_download() as saved:
        tab.get_by_role("button", name="JSON").click()
    lines = json.loads(Path(saved.value.path()).read_text(encoding="utf-8"))
    assert [line["stack"] for line in lines if line["verdict"] == "baseline"] == [
        pairs(each, analysis.pairing)[0].base.stack for each in analysis.comparisons
    ]
    assert len(lines) == 6, "three frameworks on two questions"


def test_without_the_script_stacks_are_shown(tabs: Tabs, html: Path) -> None:
    tab = tabs.open(html, "#by=frameworks", script=False)
    assert tab.locator("#dots .by-stacks figure:visible").count() == 2
    assert tab.locator(".by-frameworks:visible").count() == 0


@pytest.mark.parametrize("fragment", ["", "#by=frameworks"])
def test_figures_by_stacks_and_by_frameworks_have_no_violation_of_axe(tabs: Tabs, html: Path, fragment: str) -> None:
    tab = tabs.open(html, fragment, screen=NARROW)
    assert fits(tab) and violations(tab) == []


def test_another_metric_than_a_steady_step_is_shown_on_the_map(tabs: Tabs, html: Path) -> None:
    tab = tabs.open(html, "#metric=memory")
    assert tab.locator("#map").is_visible() and not tab.locator("#dots").is_visible()
