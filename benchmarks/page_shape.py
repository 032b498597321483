"""Measures how long a page is before anything is opened, on two screens and on paper, and how many stops of the Tab key
lead to its map.

    PYTHONPATH=. .venv/bin/python benchmarks/page_shape.py results/latest/report.html ...

Required: at most 2 screens of 1280 x 900 pixels for 2 questions and 6 for 20, at most 20 stops, and 2 sheets of A4.
"""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

SCREENS = ((1280, 900), (380, 900))
MOST_STOPS = 100


def main() -> None:
    """Prints a line for each page."""
    path = shutil.which("chromium") or shutil.which("google-chrome") or sys.exit("There is no Chromium here.")
    print("wide, px | narrow, px | stops | sheets | MB | page")
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for page in map(Path, sys.argv[1:]):
            print(" | ".join(map(str, (*heights(browser, page), *reached(browser, page), page))))


def heights(browser: Browser, page: Path) -> list[int]:
    """Returns the height of the whole page on each screen, in pixels."""
    found = []
    for width, height in SCREENS:
        tab = browser.new_page(viewport={"width": width, "height": height})
        tab.goto(page.resolve().as_uri())
        found.append(int(tab.evaluate("document.documentElement.scrollHeight")))
    return found


def reached(browser: Browser, page: Path) -> tuple[int, int, float]:
    """Returns the stops of the Tab key until the focus is in the map, the sheets of A4, and the size in MB."""
    tab = browser.new_page(viewport={"width": SCREENS[0][0], "height": SCREENS[0][1]})
    tab.goto(page.resolve().as_uri())
    stops = 0
    while stops < MOST_STOPS and not tab.evaluate("!!document.activeElement.closest('#map')"):
        tab.keyboard.press("Tab")
        stops += 1
    sheets = len(re.findall(rb"/Type\s*/Page\b", tab.pdf(format="A4")))
    return stops, sheets, round(page.stat().st_size / 1e6, 2)


if __name__ == "__main__":
    main()
