"""The pages of a site: links lead somewhere, hostile text is text, the search finds, a browser shows all of it."""

from __future__ import annotations

import re
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from playwright.sync_api import Page

from suite.extras.site.build import Site, build
from suite.extras.site.entry import QuestionEntry
from suite.extras.site.pages import newest_map
from suite.extras.site.sources import SetSource
from suite.page.map.cells import Square
from suite.page.map.frameworks import of_many, pairs
from suite.page.report import report
from suite.results import load
from tests.browser import NARROW, Tabs, fits, told, too_wide_for_paper, unfold, violations
from tests.extras.site.conftest import made, quiet

HOSTILE = "\"'><script>alert(1)</script><img src=x onerror=alert(1)>{{ 7 * 7 }}"


class Links(HTMLParser):
    """What a page refers to, and what can be referred to in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.hrefs: list[str] = []
        self.ids: set[str] = set()
        self.tags: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        is_data = tag == "script" and dict(attrs).get("type") == "application/json"
        self.tags.append("data" if is_data else tag)
        for name, value in attrs:
            if name in ("href", "src"):
                self.hrefs.append(value or "")
            elif name == "id":
                self.ids.add(value or "")
            assert not name.startswith("on"), "a handler"


@cache
def links(page: Path) -> Links:
    """Of a page, which many others refer to."""
    return Links(page.read_text(encoding="utf-8"))


def test_every_link_leads_to_a_file_of_the_site(site: Site) -> None:
    count, out = 0, site.out.resolve()
    for page in out.rglob("*.html"):
        for href in links(page).hrefs:
            parts = urlsplit(href)
            assert not parts.scheme and not parts.netloc and not parts.path.startswith("/"), href
            target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
            assert target.is_file() and target.is_relative_to(out), (page, href)
            assert not parts.fragment or parts.fragment in links(target).ids, (page, href)
            count += 1
    assert count > 100


def test_every_page_can_be_reached_from_the_index(site: Site) -> None:
    seen, rest = set[Path](), [site.out / "index.html"]
    while rest:
        page = rest.pop()
        if page not in seen:
            seen.add(page)
            rest += [(page.parent / urlsplit(href).path).resolve() for href in links(page).hrefs if urlsplit(href).path]
    assert {path.resolve() for path in site.out.rglob("*.html")} <= {path.resolve() for path in seen}


def test_times_of_two_machines_are_never_on_one_line(site: Site) -> None:
    (page,) = (site.out / "history").glob("gemm-tiny-forward-f32-cpu-????????.html")
    text = page.read_text(encoding="utf-8")
    assert "<h1>gemm (forward)</h1>" in text
    charts = re.findall(r"<section.*?</section>", text, re.DOTALL)
    assert len(charts) == 2, "a-machine and b-machine"
    dots = [len(re.findall(r'<g class="mark dot s."><title>jax_jit', chart)) for chart in charts]
    assert dots == [7, 2] and all(chart.count("<polyline") >= 3 for chart in charts)
    assert "jax_jit became 1.20× slower" in re.sub(r"1\.(19|20|21)×", "1.20×", charts[0])
    assert charts[0].count('<line class="event"') == 2, "in the plot and in the legend"
    assert "jax_jit: jax 1.0 → 1.1; " in charts[0]


def test_a_machine_s_map_has_the_newest_answer_to_each_question(site: Site) -> None:
    (page,) = (site.out / "machines").glob("example-cpu-*")
    text = page.read_text(encoding="utf-8")
    (table,) = re.findall(r'<table class="map".*?</table>', text, re.DOTALL)
    assert table.count("<tr data-") + table.count("<tr>") == 3, "heads and two questions"
    assert re.findall(r'<td data-stack="jax_jit" class="sq ([^"]*)"', table) == ["faster f3 leads"] * 2
    assert "over numpy, 2026-03-07" in table, "the baseline and the newest set"
    (other,) = (site.out / "machines").glob("other-cpu-*")
    assert re.findall(r'<td data-stack="jax_jit" class="sq ([^"]*)"', other.read_text()) == ["slower s2"] * 2


def test_the_index_has_every_question_of_every_machine_in_one_map(site: Site) -> None:
    text = (site.out / "index.html").read_text(encoding="utf-8")
    (table,) = re.findall(r'<table class="map".*?</table>', text, re.DOTALL)
    anchors = re.findall(r'<th scope="row"><a href="#([^"]*)"', table)
    assert len(anchors) == len({*anchors}) == text.count('id="q-') == 2 + 2 + 3, (
        "of a-machine, b-machine and the stored set"
    )
    assert "2026-03-07, Example CPU" in table and "2026-03-06, Other CPU" in table


def test_hostile_names_are_text(tmp_path: Path) -> None:
    made(tmp_path / "results", 1, model=HOSTILE, version=HOSTILE)
    made(tmp_path / "results", 2, model=HOSTILE, version=HOSTILE)
    site = build(SetSource(tmp_path / "results"), tmp_path / "site", quiet)
    assert len(site.shown) == 2
    for page in site.out.rglob("*.html"):
        found = links(page)
        assert found.tags.count("script") == 1 and "img" not in found.tags, page
    assert "onerror=alert(1)&gt;{{ 7 * 7 }}" in (site.out / "index.html").read_text(), "neither run nor left out"
    assert all(re.fullmatch(r"[a-z0-9-]+\.html", path.name) for path in (site.out / "history").iterdir())


def test_no_page_loads_anything(site: Site) -> None:
    for page in site.out.rglob("*.html"):
        text = page.read_text(encoding="utf-8")
        (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', text)
        assert policy.startswith("default-src &#39;none&#39;") and "unsafe" not in policy


@pytest.mark.parametrize("kind", ["index.html", "history/*.html", "machines/*.html"])
@pytest.mark.slow
def test_a_browser_shows_every_kind_of_page_without_a_violation_of_axe(tabs: Tabs, site: Site, kind: str) -> None:
    tab = tabs.open(sorted(site.out.glob(kind))[0])
    assert tab.locator("html[data-ready]").count() == 1 and fits(tab)
    tab.set_viewport_size({"width": NARROW[0], "height": NARROW[1]})
    unfold(tab)
    assert fits(tab) and violations(tab) == []
    assert too_wide_for_paper(tab) == []


@pytest.mark.slow
def test_the_index_is_printed_without_its_search(tabs: Tabs, site: Site) -> None:
    tab = tabs.open(site.out / "index.html")
    assert tab.locator(".search").is_visible()
    tab.emulate_media(media="print")
    assert not tab.locator(".search").is_visible() and tab.locator("#sets").is_visible()


def searched(tab: Page) -> dict[str, int]:
    """How many rows of each section of the index are shown."""
    return told(
        tab,
        """all("section").forEach(section => {
          const rows = [...section.querySelectorAll("[data-found]")];
          if (rows.length) out[section.id] = rows.filter(visible).length; })""",
    )


@pytest.mark.slow
def test_the_search_is_in_the_address(tabs: Tabs, site: Site) -> None:
    tab = tabs.open(site.out / "index.html")
    everything = searched(tab)
    assert (everything["sets"], everything["questions"], everything["machines"]) == (10, 7, 3)
    tab.locator("[name=machine]").select_option("b-machine")
    tab.locator("[name=stack]").select_option("jax_jit")
    tab.reload()
    of_b = searched(tab)
    assert (of_b["sets"], of_b["questions"], of_b["machines"], of_b["changes"]) == (2, 2, 1, 0)
    llama = searched(tabs.open(site.out / "index.html", "#workload=llama&words=2026"))
    assert (llama["sets"], llama["questions"]) == (1, 1)
    assert searched(tabs.open(site.out / "index.html", "#stack=no_such_stack"))["sets"] == 10


def test_the_index_begins_with_what_each_machine_s_sets_say_of_frameworks(site: Site, ten: Path) -> None:
    text = (site.out / "index.html").read_text(encoding="utf-8")
    said = re.findall(r'<p class="verdict long">On <a href="(machines/[^"]*)">([^<]*)</a> (.*?)</p>', text)
    assert [name for _, name, _ in said].count("Other CPU @ 3.10GHz") == 1 and len(said) == 3
    assert all((site.out / page).is_file() for page, _, _ in said)
    by_machine = {name: words for _, name, words in said}
    # Over the set's baseline, NumPy: 20 against 12 ms, and on the other machine 20 against 30 ms.
    assert re.fullmatch(
        r"JAX is shown to be faster than NumPy on both questions \(1\.6\d to 1\.\d+×\)\.",
        by_machine["Example CPU @ 2.80GHz"],
    )
    assert "JAX is shown to be slower than NumPy on both questions (0.6" in by_machine["Other CPU @ 3.10GHz"]
    newest = report(load(ten / "20260307-120000-quick-cpu-a")).analysis
    found = [
        ("default", [it for it in pairs(each, newest.pairing) if it.names[0] == "JAX"]) for each in newest.comparisons
    ]
    assert by_machine["Example CPU @ 2.80GHz"] == f"{of_many(found)}."


def test_the_index_leads_on_and_says_questions_in_words(site: Site) -> None:
    text = (site.out / "index.html").read_text(encoding="utf-8")
    for words in ("Documentation", "README", "How to read a report", "Ask your own question", "Send a set"):
        assert f"{words} (<code>" in text, "this checkout's repository has no address"
    names = re.findall(r'<th scope="row"><a href="history/[^"]*">([^<]*)</a><small>([^<]*)', text)
    assert ("gemm (forward)", "tiny: n = 64; f32") in names and len(names) == 7


def test_variants_of_stacks_are_folded_into_their_question() -> None:
    squares = {stack: Square("faster", "2.00×", "[1.9, 2.1]", own="1 ms") for stack in ("numpy", "jax_jit@0.9:solve")}
    question = QuestionEntry("n", "t", "d", "default", "w", "m", "numpy", "a", (), squares, "s", "2026-01-01", "cpu")
    shown = newest_map([[question]])
    assert (
        shown
        and shown.columns == ("numpy",)
        and shown.rows[0].folded == (("jax_jit@0.9:solve", squares["jax_jit@0.9:solve"]),)
    )
