"""Takes the pictures of the report in docs/ from a result set, with the Chromium of this machine.

    PYTHONPATH=. .venv/bin/python docs/screenshots.py results/latest

It writes report-light.png and report-dark.png (the first screen), report-narrow.png and report-panel.png.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from suite import results
from suite.report.formats.render import page_of
from suite.report.page import report

HERE = Path(__file__).parent
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 500, "height": 1400}


def main() -> None:
    """Takes all pictures of one set."""
    made = report(results.load(Path(sys.argv[1])))
    panel = [panel.id for panel in made.panels() if panel.runs][2]
    pictures: dict[str, tuple[str, dict[str, Any]]] = {
        "report-light.png": ("", {"viewport": WIDE}),
        "report-dark.png": ("", {"viewport": WIDE, "color_scheme": "dark"}),
        "report-narrow.png": ("", {"viewport": NARROW}),
        "report-panel.png": (f"#{panel}", {"viewport": WIDE}),
    }
    path = shutil.which("chromium") or shutil.which("google-chrome") or sys.exit("There is no Chromium here.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        page = Path(folder) / "report.html"
        page.write_text(page_of(made), encoding="utf-8")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        for name, (fragment, options) in pictures.items():
            tab = browser.new_page(**options)
            tab.goto(f"{page.as_uri()}{fragment}")
            tab.screenshot(path=HERE / name)
            print(HERE / name)


if __name__ == "__main__":
    main()
