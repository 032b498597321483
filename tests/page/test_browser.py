"""The report in a real browser: it draws, its script runs, its policy blocks nothing of its own, it prints."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from suite import results
from suite.page.between_sets import compared_sets
from suite.page.formats.compare_page import compare_page
from suite.page.formats.render import page
from suite.results.between_sets import compare_sets
from suite.sets.rows import Row
from tests.browser import NARROW, SCREEN, Tabs, fits, told, too_wide_for_paper, unfold, violations
from tests.page.formats.test_compare_page import loaded, rows_of_set
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, rows_of
from tests.results.test_between_sets import times

THREE = {"numpy": [0.02, 0.021, 0.0205], "jax_jit": [0.010, 0.0101, 0.0102], "tf_xla": [0.02, 0.022, 0.0195]}


def questions(number: int) -> list[Row]:
    """Rows of three stacks on so many questions."""
    return [row for place in range(number) for row in rows_of(THREE, dims={"n": 64 + place})]


def all_failed() -> list[Row]:
    """Rows of three stacks that all ran out of memory."""
    ended = {"outcome": "oom_host", "reason": "The watchdog ended it at 2.0 GiB.", "synced_seconds": None}
    return [row | ended for row in questions(1)]


def compared() -> str:
    """The page of two sets."""
    rows = rows_of_set()
    pair = compare_sets(times("a", rows), times("b", rows_of_set(1.5)))
    return compare_page(compared_sets([pair], 1.05, 1.03), [loaded(rows)] * 2)


def of_rows(rows: list[Row]) -> str:
    """The report of some rows."""
    return page(results.Results(Path("nowhere"), plan_file(baseline="numpy"), rows, [], {}))


def not_run() -> str:
    """The report of a set of which nothing has run."""
    planned = tuple(attempt_of(stack, block) for stack in THREE for block in (1, 2, 3))
    return page(results.Results(Path("nowhere"), plan_file(baseline="numpy", attempts=planned), [], [], {}))


PAGES: dict[str, Callable[[], str]] = {
    "compare": compared,
    "empty": not_run,
    "all failed": lambda: of_rows(all_failed()),
    "one case": lambda: of_rows(rows_of({"numpy": [0.01, 0.011]})),
    "one stack": lambda: of_rows([row for row in questions(2) if row["stack"] == "numpy"]),
}


def test_the_page_is_drawn_and_nothing_is_blocked(tabs: Tabs, html_file: Path) -> None:
    tab = tabs.open(html_file)
    assert tab.locator("html[data-ready]").count() == 1
    assert tab.locator("th > button", has_text="Stack").count() > 3
    assert tab.locator("[data-filter][hidden]").count() == 0, "the script offers its filters"
    assert tabs.asked == [html_file.as_uri()]


def test_the_policy_blocks_a_foreign_script(tabs: Tabs, html_file: Path, tmp_path: Path) -> None:
    # Proves that a violation would be heard.
    text = html_file.read_text(encoding="utf-8").replace("</main>", "<script>document.title = 'x'</script></main>")
    changed = tmp_path / "changed.html"
    changed.write_text(text, encoding="utf-8")
    assert tabs.open(changed).title() != "x"
    assert any("Content Security Policy" in tabs.heard.pop() for _ in [*tabs.heard])


def test_the_report_has_no_violation_of_axe_and_scrolls_only_in_its_tables(tabs: Tabs, html_file: Path) -> None:
    tab = tabs.open(html_file)
    unfold(tab, ".as-map")
    panel = tab.locator(".panel").nth(2).get_attribute("id")
    tab.locator(f"#map a[href='#{panel}']").click()
    assert tab.locator(f"#{panel}").is_visible() and violations(tab, f"#{panel}") == []
    tab.keyboard.press("Escape")
    unfold(tab)
    assert fits(tab)
    tab.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    assert fits(tab)
    tab.evaluate("document.querySelectorAll('.comparison ~ .comparison').forEach(like => { like.remove(); })")
    assert violations(tab) == []


@pytest.mark.parametrize("kind", PAGES)
def test_every_kind_of_page_is_drawn_without_a_violation_of_axe(tabs: Tabs, tmp_path: Path, kind: str) -> None:
    file = tmp_path / "page.html"
    file.write_text(PAGES[kind](), encoding="utf-8")
    tab = tabs.open(file, screen=NARROW)
    unfold(tab)
    assert tab.locator("html[data-ready]").count() == 1 and fits(tab)
    assert violations(tab) == []
    assert too_wide_for_paper(tab) == []


def test_axe_sees_what_is_wrong(tabs: Tabs, tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_text(
        "<title>x</title><main><h1>x</h1><style>p{color:#ddd}</style><p>pale words</main>", encoding="utf-8"
    )
    found = " ".join(violations(tabs.open(file)))
    assert "light: color-contrast: <p>" in found and "dark: color-contrast" in found and "html-has-lang" in found


SCROLLING = """
out.regions = 0;
out.unreachable = all("body *").filter(node => !(node instanceof SVGElement)
  && /auto|scroll/.test(getComputedStyle(node).overflowX + getComputedStyle(node).overflowY)
  && (node.scrollWidth > node.clientWidth || node.scrollHeight > node.clientHeight)).filter(node => {
    const isRegion = node.tabIndex === 0 && node.getAttribute("role") === "region" && node.getAttribute("aria-label");
    out.regions += isRegion ? 1 : 0;
    return !isRegion && !node.querySelector("a, button, input"); }).map(node => node.tagName + "." + node.className)"""


def test_a_keyboard_reaches_whatever_scrolls(tabs: Tabs, html_file: Path) -> None:
    tab = tabs.open(html_file, screen=NARROW)
    unfold(tab)
    out = told(tab, SCROLLING)
    assert out["regions"] > 5 and out["unreachable"] == []


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without"])
def test_a_link_opens_what_it_leads_to(tabs: Tabs, html_file: Path, script: bool) -> None:
    (anchor,) = re.findall(r'id="(c-ffn-train-[0-9a-f]+)"', html_file.read_text(encoding="utf-8"))
    headings = {
        "answers": [],
        "latency": ["Latency"],
        anchor: ["Comparisons", "ffn train"],
        "term-noise-floor": ["Glossary"],
    }
    for fragment, opened in headings.items():
        tab = tabs.open(html_file, f"#{fragment}", script=script)
        shown = tab.locator("details[open] > summary > :is(h2, h3)").all_inner_texts()
        assert shown == opened, fragment


@pytest.mark.parametrize("script", [True, False], ids=["with script", "without"])
@pytest.mark.parametrize("screen", [SCREEN, NARROW], ids=["wide", "narrow"])
def test_each_link_of_the_navigation_shows_what_it_leads_to_below_the_bar(
    tabs: Tabs, html_file: Path, screen: tuple[int, int], script: bool
) -> None:
    tab = tabs.open(html_file, screen=screen, script=script)
    links = [str(link.get_attribute("href")) for link in tab.locator("nav a").all()]
    assert links[0] == "#answers" and len(links) > 10
    for link in links:
        tab.goto(html_file.as_uri())
        tab.locator(f"nav a[href='{link}']").click()
        bar, target = tab.locator("nav").bounding_box(), tab.locator(link)
        heading = tab.locator(f"details[open]:has(> {link}) > summary").bounding_box()
        shown = target.bounding_box()
        assert bar and heading and shown and shown["height"] > 20, f"{link} is open"
        assert bar["y"] + bar["height"] <= heading["y"] < shown["y"] < screen[1] - 20, f"{link} is in sight"


@pytest.mark.parametrize(("number", "screens"), [(2, 2), (20, 6)])
def test_a_page_is_short_before_anything_is_opened_and_on_two_sheets(
    tabs: Tabs, tmp_path: Path, number: int, screens: int
) -> None:
    file = tmp_path / "whole.html"
    file.write_text(of_rows(questions(number)), encoding="utf-8")
    tab = tabs.open(file)
    assert tab.evaluate("document.documentElement.scrollHeight") <= screens * SCREEN[1]
    assert sheets(tab.pdf(format="A4")) == 2


def sheets(pdf: bytes) -> int:
    """The number of pages of a PDF."""
    return len(re.findall(rb"/Type\s*/Page\b", pdf))


def test_what_is_open_is_printed(tabs: Tabs, html_file: Path) -> None:
    tab = tabs.open(html_file)
    folded = sheets(tab.pdf(format="A4"))
    assert folded == 2
    unfold(tab, ".part > details")
    assert sheets(tab.pdf(format="A4")) > folded + 3
    assert too_wide_for_paper(tab) == []


COLLISIONS = """
const boxes = all("figure svg text").filter(visible).map(node => [node, box(node)]);
out.labels = boxes.length;
out.collisions = [];
const figures = new Map();
boxes.forEach(([node, ours]) => {
  const figure = node.closest("figure"), others = figures.get(figure) || [];
  others.forEach(([other, its]) => {
    const across = Math.min(ours.right, its.right) - Math.max(ours.left, its.left);
    const down = Math.min(ours.bottom, its.bottom) - Math.max(ours.top, its.top);
    const where = text(figure.querySelector("figcaption"));
    if (across > 1 && down > 4) out.collisions.push(where + ": " + text(other) + " | " + text(node));
  });
  figures.set(figure, [...others, [node, ours]]);
})"""


@pytest.mark.parametrize("screen", [SCREEN, NARROW], ids=["wide", "narrow"])
def test_labels_of_figures_stand_apart(tabs: Tabs, html_file: Path, screen: tuple[int, int]) -> None:
    tab = tabs.open(html_file, screen=screen)
    unfold(tab)
    out = told(tab, COLLISIONS)
    assert out["labels"] > 200 and out["collisions"] == []


def test_a_table_fades_where_it_goes_on_to_the_right(tabs: Tabs, html_file: Path) -> None:
    tab = tabs.open(html_file, screen=NARROW)
    unfold(tab)
    seen = told(
        tab,
        """const box_ = all(".comparison .scroll")[0];
        const fade = () => new Promise(done => requestAnimationFrame(() => requestAnimationFrame(
          () => done(parseFloat(getComputedStyle(box_).getPropertyValue("--more"))))));
        out.wide = box_.scrollWidth > box_.clientWidth;
        out.caption = box(box_.querySelector("caption")).width <= box_.clientWidth;
        globalThis.fade = fade; globalThis.wide = box_""",
    )
    assert seen == {"wide": True, "caption": True}, "the caption wraps in sight"
    assert tab.evaluate("fade()") > 40
    assert tab.evaluate("wide.scrollLeft = 100000, fade()") == 0
    assert tab.evaluate("wide.querySelectorAll('table').forEach(t => { t.hidden = true; }), fade()") == 0


def test_notes_out_of_sight_do_not_make_rows_tall(tabs: Tabs, html_file: Path) -> None:
    tab = tabs.open(html_file)
    unfold(tab)
    note = "<span class=tag>two modes</span> slowest/fastest 1.55×, fastest 0.433 ms, typical 0.499 ms"
    tab.evaluate("note => document.querySelectorAll('td.notes > div').forEach(at => { at.innerHTML = note; })", note)
    heights = told(tab, "out.rows = all('td.notes').map(cell => box(cell.parentElement).height)")["rows"]
    assert len(heights) > 10 and max(heights) < 70, "two lines at most"


def test_a_link_into_a_section_is_not_hidden_by_the_navigation(tabs: Tabs, html_file: Path) -> None:
    tab = tabs.open(html_file)
    unfold(tab)
    tab.evaluate(
        """() => { const p = document.createElement("p"); p.id = "within"; p.textContent = "a note";
        document.querySelectorAll(".comparison .unfolded")[1].append(p); location.hash = "within"; }"""
    )
    seen = told(tab, "out.top = box(document.getElementById('within')).top; out.nav = box(all('nav')[0]).bottom")
    assert seen["nav"] <= seen["top"] < seen["nav"] + 80


def test_a_pill_is_as_wide_as_its_word(tabs: Tabs, html_file: Path) -> None:
    tab = tabs.open(html_file)
    unfold(tab)
    assert set(told(tab, "out.how = all('.tag.plain').map(tag => getComputedStyle(tag).display)")["how"]) == {
        "inline-block"
    }
