"""A real Chromium for the tests of pages: one a session, each page in a profile of its own, without a network."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser, BrowserContext, Page

SCREEN = (1280, 900)
NARROW = (380, 900)
PAPER = 710  # 188 mm in pixels of CSS
NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """This machine's Chromium. Without one the tests are skipped, but fail where CI=true."""
    from playwright.sync_api import sync_playwright

    path = next((path for name in NAMES if (path := shutil.which(name))), None)
    if path is None:
        reason = f"no browser here: none of {', '.join(NAMES)} (the Debian package is chromium)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield chromium
        chromium.close()


class Tabs:
    """Opens pages. `heard` is what they printed to the console, or threw; `asked` is every address that they loaded."""

    def __init__(self, browser: Browser) -> None:
        self.browser = browser
        self.heard: list[str] = []
        self.asked: list[str] = []
        self.profiles: list[BrowserContext] = []

    def open(
        self,
        file: Path,
        fragment: str = "",
        *,
        screen: tuple[int, int] = SCREEN,
        scheme: Literal["light", "dark"] = "light",
        motion: Literal["no-preference", "reduce"] = "no-preference",
        script: bool = True,
    ) -> Page:
        """A page in a new profile."""
        profile = self.browser.new_context(
            viewport={"width": screen[0], "height": screen[1]},
            color_scheme=scheme,
            reduced_motion=motion,
            java_script_enabled=script,
            offline=True,
            accept_downloads=True,
        )
        self.profiles.append(profile)
        tab = profile.new_page()
        tab.on("console", lambda message: self.heard.append(message.text))
        tab.on("pageerror", lambda error: self.heard.append(str(error)))
        tab.on("request", lambda request: self.asked.append(request.url))
        tab.goto(f"{file.as_uri()}{fragment}")
        return tab


@pytest.fixture
def tabs(browser: Browser) -> Iterator[Tabs]:
    """Opens pages; after the test none has printed to the console or loaded anything but files."""
    opened = Tabs(browser)
    yield opened
    for profile in opened.profiles:
        profile.close()
    assert opened.heard == []
    assert [address for address in opened.asked if not re.match("file:|blob:", address)] == []


def told(tab: Page, statements: str) -> dict[str, Any]:
    """What JavaScript statements, which fill `out`, find in a page. They have `all`, `text` and `visible`."""
    return dict(
        tab.evaluate(
            """() => {
            const out = {};
            const all = selector => [...document.querySelectorAll(selector)];
            const text = node => node ? node.textContent.trim() : "";
            const box = node => node.getBoundingClientRect();
            const visible = node => box(node).width > 0 && box(node).height > 0;
            """
            + statements
            + "; return out; }"
        )
    )


def unfold(tab: Page, selector: str = "details") -> None:
    """Opens what is folded."""
    tab.evaluate("selector => document.querySelectorAll(selector).forEach(box => { box.open = true; })", selector)


def fits(tab: Page) -> bool:
    """Whether the page doesn't scroll sideways."""
    return bool(tab.evaluate("document.documentElement.scrollWidth <= innerWidth"))


def too_wide_for_paper(tab: Page) -> list[str]:
    """What a printed sheet of A4 with margins of 11 mm would cut off at its right."""
    tab.set_viewport_size({"width": PAPER, "height": SCREEN[1]})
    tab.emulate_media(media="print")
    out = told(
        tab,
        """out.wide = all("body *").filter(node => visible(node) && box(node).right > innerWidth + 1)
          .map(node => node.outerHTML.slice(0, 160))""",
    )
    tab.emulate_media(media="screen")
    return list(out["wide"])


def violations(tab: Page, within: str | None = None) -> list[str]:
    """What axe finds against what is open of a page, in light and, of its colours, in dark."""
    from axe_playwright_python.sync_playwright import Axe

    found = []
    for scheme, options in (("light", {}), ("dark", {"runOnly": ["color-contrast"]})):
        tab.emulate_media(color_scheme=scheme)
        result = Axe().run(tab, within, options={"resultTypes": ["violations"]} | options).response
        assert result["passes"]
        found += [
            f"{scheme}: {rule['id']}: {node['html'][:200]} ({len(rule['nodes'])} times)"
            for rule in result["violations"]
            for node in rule["nodes"][:3]
        ]
    return found
