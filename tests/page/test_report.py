"""The HTML file: complete in itself, safe, readable and the same every time."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from suite.page.formats.render import TEMPLATES, render
from tests.page import synthetic
from tests.plan_files import plan_file

VOID = {"meta", "link", "br", "img", "input", "hr", "wbr"}
LOADING = ("src", "srcset", "href", "xlink:href", "action", "data", "poster", "background", "formaction")


class Page(HTMLParser):
    """What a page is made of: elements, ids, links, scripts, and whether every element is closed."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.text = ""
        self.bodies: dict[str, list[str]] = {"script": [], "style": [], "data": []}
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open[-1] == tag, f"</{tag}> closes <{self.open[-1:]}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        inside = self.open[-1] if self.open else ""
        if inside == "script" and self.all("script")[-1].get("type") == "application/json":
            inside = "data"  # never run: no policy has to allow it
        if inside in self.bodies:
            self.bodies[inside].append(data)
        else:
            self.text += data

    def all(self, tag: str) -> list[dict[str, str | None]]:
        """Attributes of every element of a kind."""
        return [attrs for name, attrs in self.elements if name == tag]


@pytest.fixture(scope="module")
def page(html_file: Path) -> Page:
    return Page(html_file.read_text(encoding="utf-8"))


def test_elements_nest_and_ids_are_unique_and_links_arrive(page: Page) -> None:
    assert page.open == []
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    targets = {(a.get("href") or "")[1:] for a in page.all("a")}
    assert targets <= set(ids)
    for _, attrs in page.elements:
        for name in ("aria-labelledby", "for"):
            assert set((attrs.get(name) or "").split()) <= set(ids)


def test_a_page_of_very_many_cases_says_what_it_leaves_out_and_has_the_same_map(
    folder: Path, page: Page, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("suite.page.report.CASES_MOST", 10)
    small = Page(render(folder, tmp_path / "small.html").read_text(encoding="utf-8"))
    test_elements_nest_and_ids_are_unique_and_links_arrive(small)
    assert re.search(r"Of \d\d cases this page has the map over torch_eager and an answer for each", small.text)
    assert "report --set=results/" in small.text and "Samples of each process" in page.text
    assert "Samples of each process" not in small.text and "Noise floor (A/A)" not in small.text

    def squares(of: Page) -> list[tuple[str | None, str | None]]:
        return [
            (cell["class"], cell.get("title")) for cell in of.all("td") if "sq" in (cell.get("class") or "").split()
        ]

    ours = squares(small)
    assert ours
    for one, other in zip(ours, squares(page)[: len(ours)], strict=True):  # the map by frameworks follows there
        assert one[0] == other[0] and (one[1] or "").startswith(other[1] or "")
    [data] = small.bodies["data"]
    assert {name: list(by["maps"]) for name, by in json.loads(data)["metrics"].items()} == {"steady": ["torch_eager"]}


def test_nothing_is_loaded_from_anywhere(page: Page, html_file: Path) -> None:
    for tag, attrs in page.elements:
        assert tag not in ("link", "iframe", "object", "embed", "img", "base", "form")
        for name in LOADING:
            if attrs.get(name):
                assert tag == "a" and str(attrs[name]).startswith("#")
        assert not any(name.startswith("on") or name == "style" for name in attrs)
    style = "".join(page.bodies["style"])
    assert "url(" not in style and "@import" not in style and "@font-face" not in style
    assert "fetch(" not in "".join(page.bodies["script"])


def test_the_policy_allows_this_very_script_and_style_alone(page: Page) -> None:
    [policy] = [m["content"] for m in page.all("meta") if m.get("http-equiv") == "Content-Security-Policy"]
    assert policy is not None
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'" and rules["img-src"] == "data:"
    for tag in ("script", "style"):
        [body] = page.bodies[tag]
        digest = base64.b64encode(hashlib.sha256(body.encode()).digest()).decode()
        assert rules[f"{tag}-src"] == f"'sha256-{digest}'"
    assert "unsafe" not in policy and "http" not in policy


def test_hostile_text_stays_text(page: Page, html_file: Path) -> None:
    assert len(page.all("script")) == 2 and page.all("img") == []
    [data] = page.bodies["data"]
    assert json.loads(data)["stacks"] and "<" not in data
    assert page.text.count(synthetic.HOSTILE) >= 3  # reason, message and standard error
    assert synthetic.HOSTILE not in html_file.read_text(encoding="utf-8")


def test_hostile_names_stay_text(folder: Path, tmp_path: Path) -> None:
    from suite import results
    from suite.page.formats.render import page as rendered

    loaded = results.load(folder)
    bad = '"><script>alert(1)</script>'
    rows = [r | {"reason": bad, "environment": bad, "flags": [bad], "versions": "{}"} for r in loaded.rows]
    file = plan_file(baseline="torch_eager", units={bad: bad})
    # All three are refused where a plan is read.
    object.__setattr__(file.plan, "set_id", bad)
    object.__setattr__(file, "command", bad)
    object.__setattr__(file, "locks", {bad: bad})
    text = rendered(results.Results(folder, file, rows, [], {bad: {bad: bad}}))
    assert [attrs.get("type") for attrs in Page(text).all("script")] == ["application/json", None]


def test_the_same_set_gives_the_same_bytes(folder: Path, tmp_path: Path, html_file: Path) -> None:
    again = render(folder, tmp_path / "again.html")
    assert again.read_bytes() == html_file.read_bytes()
    assert [p.name for p in tmp_path.iterdir()] == ["again.html"]


def test_nothing_unknown_leaks_from_the_program(page: Page) -> None:
    for word in ("None", "nan", "NaN", "inf ", "Undefined", "dataclass", " object at 0x"):
        assert word not in page.text, word


def test_tables_and_figures_have_names(page: Page) -> None:
    others = 9  # baselines that can be chosen, each with its means (of two groups), its totals and its plots
    assert len(page.all("table")) == len(page.all("caption")) > 3 * (2 + 2) + 10 + 2 * others
    assert all(th.get("scope") in ("col", "row") for th in page.all("th"))
    figures = [svg for svg in page.all("svg") if svg.get("role") in ("img", "group")]  # the rows of a group are links
    assert all(svg.get("aria-labelledby") or svg.get("aria-label") for svg in figures)
    drawn = [svg["aria-labelledby"] or "" for svg in figures if svg.get("aria-labelledby")]
    by_frameworks = [name for name in drawn if "-by-" in name]  # one for baselines over which it is the same
    assert len(drawn) - len(by_frameworks) == 3 * (3 + 2) + 2 + others * (3 + 2)
    assert 3 <= len(by_frameworks) <= 3 * (1 + others)
    assert [m["content"] for m in page.all("meta") if m.get("name") == "viewport"]


def test_what_scrolls_is_a_region_of_its_own(page: Page) -> None:
    regions = [attrs for _, attrs in page.elements if attrs.get("role") == "region"]
    scrolling = [attrs for attrs in page.all("div") if attrs.get("class") == "scroll"] + page.all("pre")
    assert scrolling and all(attrs in regions for attrs in scrolling)
    assert all(attrs.get("tabindex") == "0" for attrs in regions)
    labels = [attrs.get("aria-label") for attrs in regions]
    assert len(labels) > 10 and all(labels) and len(set(labels)) == len(labels)


def test_words_of_the_page(page: Page) -> None:
    assert "✓ ok" in page.text and "fits" not in page.text
    assert "k tokens/s" in page.text and "rows/s" in page.text and "items/s" not in page.text
    assert "of the machine's measured limit" not in page.text  # this set has no roofline
    assert not re.search(r"\broof\b", page.text)


def test_every_stack_and_verdict_is_on_the_page(page: Page) -> None:
    for stack in synthetic.STACKS:
        assert stack in page.text
    for word in ("▲ faster", "▼ slower", "? undecided", "out of host memory", "timeout", "unsupported", "wrong result"):
        assert word in page.text


def luminance(colour: str) -> float:
    """Relative luminance of #rgb or #rrggbb (WCAG 2.2)."""
    digits = colour.lstrip("#")
    digits = "".join(c * 2 for c in digits) if len(digits) == 3 else digits
    parts = [int(digits[i : i + 2], 16) / 255 for i in (0, 2, 4)]
    linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """Contrast ratio of two colours."""
    high, low = sorted((luminance(one), luminance(other)), reverse=True)
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", [0, 1], ids=["light", "dark"])
def test_text_has_contrast(theme: int) -> None:
    style = (TEMPLATES / "partials" / "style.css").read_text(encoding="utf-8")
    extra = (TEMPLATES / "partials" / "map.css").read_text(encoding="utf-8")
    block = "".join(re.findall(r":root\{([^}]*)\}", text)[theme] for text in (style, extra))
    colours = dict(re.findall(r"--([\w-]+):(#[0-9a-f]+)", block))
    for depth in "1234":
        for side in "fs":
            assert contrast(colours["on"], colours[side + depth]) >= 4.5, side + depth
    for ink in ("ink", "soft", "link"):
        for ground in ("ground", "raised", "stripe", "even-bg"):
            assert contrast(colours[ink], colours[ground]) >= 4.5, (ink, ground)
    for word in ("fast", "slow", "even", "good", "bad", "warn"):
        assert contrast(colours[word], colours[f"{word}-bg"]) >= 4.5, word
    for mark in ("c1", "c2", "c3", "fast", "slow", "even"):
        assert contrast(colours[mark], colours["ground"]) >= 3, mark
