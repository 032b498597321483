"""Takes the pictures of the report in docs/ from result sets, with the Chromium of this machine.

    PYTHONPATH=. .venv/bin/python docs/screenshots.py SET
    PYTHONPATH=. .venv/bin/python docs/screenshots.py EARLIER SET

Of one set it writes report-light.png and report-dark.png (the first screen), report-narrow.png and report-panel.png. Of
two sets of the same questions in one folder it writes compare.png, which compares both, and history.png, which shows
all sets of that folder.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from playwright.sync_api import sync_playwright

from suite import results
from suite.page.formats.render import page_of
from suite.page.report import report

Picture = tuple[str, str, str, dict[str, Any]]  # file, address, the part to show (empty: all), the window

HERE = Path(__file__).parent
STACKWARS = HERE.parent / "stackwars"
WIDE, NARROW = {"width": 1280, "height": 900}, {"width": 500, "height": 1400}
REGRESSION = 5  # the exit code of a comparison that found one


def main() -> None:
    """Takes all pictures."""
    *earlier, newest = map(Path, sys.argv[1:])
    path = shutil.which("chromium") or shutil.which("google-chrome") or sys.exit("There is no Chromium here.")
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        pages = pages_of_both(earlier[0], newest, Path(folder)) if earlier else pages_of(newest, Path(folder))
        for name, address, selector, options in pages:
            tab = browser.new_page(**options)
            tab.goto(address)
            picture = tab.locator(selector) if selector else tab
            picture.screenshot(path=HERE / name)
            print(HERE / name)


def pages_of(result_set: Path, folder: Path) -> Iterator[Picture]:
    """Writes a set's report into a folder and yields its pictures."""
    made = report(results.load(result_set))
    page = folder / "report.html"
    page.write_text(page_of(made), encoding="utf-8")
    address, panel = page.as_uri(), [panel.id for panel in made.panels if panel.runs][2]
    yield "report-light.png", address, "", {"viewport": WIDE}
    yield "report-dark.png", address, "", {"viewport": WIDE, "color_scheme": "dark"}
    yield "report-narrow.png", address, "", {"viewport": NARROW}
    yield "report-panel.png", f"{address}#{panel}", "", {"viewport": WIDE}


def pages_of_both(earlier: Path, newest: Path, folder: Path) -> Iterator[Picture]:
    """Writes a comparison of two sets and the history of their folder into a folder and yields their pictures."""
    compared, history = folder / "compare.html", folder / "history.html"
    for command in (
        ["compare", str(earlier), str(newest), "--format=html", f"--out={compared}"],
        ["history", "--workload=*", f"--results={newest.parent}", f"--out={history}"],
    ):
        done = subprocess.run([str(STACKWARS), *command], check=False, stdout=subprocess.DEVNULL)
        if done.returncode not in (0, REGRESSION):
            sys.exit(f"{shlex.join(command)} failed.")
    yield "compare.png", compared.as_uri(), "", {"viewport": WIDE}
    yield "history.png", history.as_uri(), "", {"viewport": WIDE}


if __name__ == "__main__":
    main()
