"""The report in a real browser: it draws, its script runs, and its policy blocks nothing of its own."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from suite.report.between_sets import of_sets
from suite.report.formats.compare_page import compare_page
from suite.results.between_sets import across
from tests.report.formats.test_compare_page import loaded, rows_of_set
from tests.results.test_between_sets import times

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
FLAGS = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--enable-logging=stderr",
    "--v=0",
)


@pytest.fixture(scope="module")
def browser() -> str:
    """Path of a browser. Without one the tests are skipped, but fail where CI=true."""
    found = next((path for name in NAMES if (path := shutil.which(name))), None)
    if found is None:
        reason = f"no browser here: none of {', '.join(NAMES)} (the Debian package is chromium)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    return found


def dump(browser: str, page: Path, profile: Path) -> tuple[str, list[str]]:
    """The page's document after its script ran, and what it printed to the console."""
    done = subprocess.run(
        [browser, *FLAGS, f"--user-data-dir={profile}", "--virtual-time-budget=2000", "--dump-dom", page.as_uri()],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    return done.stdout, [line for line in done.stderr.splitlines() if "CONSOLE" in line]


def test_the_page_is_drawn_and_nothing_is_blocked(browser: str, html_file: Path, tmp_path: Path) -> None:
    document, console = dump(browser, html_file, tmp_path / "profile")
    assert console == []
    assert re.search(r"<html[^>]* data-ready", document)
    assert '<th class="l" scope="col"><button type="button">Stack</button></th>' in document
    assert not re.search(r"data-filter=\"[^\"]*\" hidden", document)  # the script offers its filters


def test_the_policy_blocks_a_foreign_script(browser: str, html_file: Path, tmp_path: Path) -> None:
    # Proves that the test above would see a violation.
    text = html_file.read_text(encoding="utf-8").replace("</main>", "<script>document.title = 'x'</script></main>")
    changed = tmp_path / "changed.html"
    changed.write_text(text, encoding="utf-8")
    document, console = dump(browser, changed, tmp_path / "profile")
    assert any("Content Security Policy" in line for line in console)
    assert "<title>x</title>" not in document


def told_by_frame(browser: str, page: Path, width: int, expression: str, folder: Path) -> str:
    """What a JavaScript expression gives in the page in a frame so many pixels wide, its policy taken away."""
    body = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", page.read_text(encoding="utf-8"))
    script = f"<script>parent.postMessage(String({expression}), '*')</script></body>"
    (folder / "page.html").write_text(body.replace("</body>", script), encoding="utf-8")
    frame = folder / "frame.html"
    frame.write_text(
        f"<script>onmessage = e => document.title = 'told ' + e.data</script>"
        f"<iframe src='page.html' style='border:0;width:{width}px;height:900px'></iframe>",
        encoding="utf-8",
    )
    document, _ = dump(browser, frame, folder / "profile")
    found = re.search(r"<title>told (.*?)</title>", document)
    assert found is not None
    return found[1]


@pytest.mark.parametrize("width", [400, 1280])
def test_no_sideways_scrolling(browser: str, html_file: Path, tmp_path: Path, width: int) -> None:
    # Only tables may scroll, never the page.
    assert int(told_by_frame(browser, html_file, width, "document.documentElement.scrollWidth", tmp_path)) <= width


@pytest.mark.parametrize("width", [390, 1280])
def test_a_page_of_two_sets_is_drawn_and_fits(browser: str, tmp_path: Path, width: int) -> None:
    rows = rows_of_set()
    found = across(times("a", rows), times("b", rows_of_set(1.5)))
    page = tmp_path / "compare.html"
    page.write_text(compare_page(of_sets([found], 1.05, 1.03), [loaded(rows)] * 2), encoding="utf-8")
    document, console = dump(browser, page, tmp_path / "profile")
    assert console == [] and re.search(r"<html[^>]* data-ready", document)
    assert int(told_by_frame(browser, page, width, "document.documentElement.scrollWidth", tmp_path)) <= width


SCROLLING = """[...document.body.querySelectorAll('*')].filter(e => !(e instanceof SVGElement)
  && /auto|scroll/.test(getComputedStyle(e).overflowX + getComputedStyle(e).overflowY)
  && (e.scrollWidth > e.clientWidth || e.scrollHeight > e.clientHeight)).map(e =>
  e.tagName + (e.tabIndex === 0 && e.getAttribute('role') === 'region' && e.getAttribute('aria-label') ? ' region'
  : e.querySelector('a, button, input') ? ' holds links' : ' unreachable'))"""


def test_a_keyboard_reaches_whatever_scrolls(browser: str, html_file: Path, tmp_path: Path) -> None:
    """axe's rule scrollable-region-focusable, with every detail open on a narrow screen."""
    opened = tmp_path / "opened.html"
    opened.write_text(html_file.read_text(encoding="utf-8").replace("<details", "<details open"), encoding="utf-8")
    scrolling = told_by_frame(browser, opened, 380, SCROLLING, tmp_path).split(",")
    assert "DIV region" in scrolling and not [each for each in scrolling if each.endswith("unreachable")]
