"""Measures the page of a large set: the time and memory of rendering, its size, and how long a browser takes to open
and to filter it. To filter is to choose another baseline (or "significant only", if the page has no choice of baseline)
and to hide a stack.

    PYTHONPATH=. .venv/bin/python benchmarks/report_size.py [QUESTIONS]

The set is synthetic: ten stacks, 200 samples a process, two blocks; 1,000 questions have 10,000 cases. Required: at
most 15 s and 500 MB beyond the loaded set for rendering, 10 MB of page, 1 s to open and 1 s to filter.
"""

from __future__ import annotations

import dataclasses
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from benchmarks.cases import attempt_of, case_of
from suite.case import CUSTOM
from suite.page.formats.render import page
from suite.results import Results
from suite.sets.rows import Row, empty_row
from suite.stacks.catalog import STACKS

SAMPLES, BLOCKS = 200, 2
PROBE = """<script>
window.addEventListener("load", function () {
  var opened = performance.now(), input = document.querySelector("#controls [name=baseline]");
  if (input.options.length > 1) input.value = input.options[1].value;
  else (input = document.querySelector("#controls [name=sure]")).checked = true;
  input.dispatchEvent(new Event("change", { bubbles: true }));
  document.querySelector("#chips button").click();
  document.body.offsetHeight;
  document.title = "opened " + opened.toFixed(0) + " filtered " + (performance.now() - opened).toFixed(0);
});
</script></body>"""


def rows(questions: int) -> list[Row]:
    """Returns the rows of a synthetic set with this number of questions."""
    random = np.random.default_rng(7)
    cases = {stack: dataclasses.replace(case_of(stack, threads=2), size=CUSTOM) for stack in STACKS}
    made = []
    for number in range(questions):
        for block in range(1, BLOCKS + 1):
            for order, stack in enumerate(cases):
                case = dataclasses.replace(cases[stack], dims={"n": 64 + number})
                attempt = dataclasses.replace(attempt_of(case), block=block, position=order)
                seconds = 1e-3 * (1 + order / 7) * np.exp(random.normal(0, 0.03, SAMPLES))
                made.append(
                    Row(empty_row(attempt))
                    | {
                        "machine_id": "m",
                        "dialect": STACKS[stack].dialect,
                        "environment": STACKS[stack].environment,
                        "engine": "local",
                        "outcome": "ok",
                        "provenance": "measured",
                        "phase": "end",
                        "first_seconds": 0.4,
                        "second_seconds": 2e-3,
                        "synced_seconds": seconds.tolist(),
                        "dispatch_seconds": (seconds / 2).tolist(),
                        "pipelined_seconds": seconds[:10].tolist(),
                        "fetch_seconds": seconds[:10].tolist(),
                        "synced_warmup": 10,
                        "versions": "{}",
                        "environment_facts": "{}",
                    }
                )
    return made


def main() -> None:
    """Makes a synthetic set and measures its page."""
    questions = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    made = rows(questions)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    begun, worked = time.perf_counter(), time.process_time()
    text = page(Results(Path("large"), None, made, [], {}), "torch_eager")
    spent, worked = time.perf_counter() - begun, time.process_time() - worked
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(f"{questions * 10:,} cases, {len(made):,} processes of {SAMPLES} samples")
    size = len(text.encode()) / 1e6
    print(f"rendered in {spent:.1f} s, {worked:.1f} s of a core")
    print(f"{peak / 1e3:,.0f} MB beyond the set; page of {size:.1f} MB")
    if (browser := shutil.which("chromium")) is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        plain = re.sub(r'<meta http-equiv="Content-Security-Policy"[^>]*>', "", text)
        file = Path(folder) / "page.html"
        file.write_text(plain.replace("</body>", PROBE), encoding="utf-8")
        done = subprocess.run(
            [
                browser,
                "--headless",
                "--no-sandbox",
                "--disable-gpu",
                f"--user-data-dir={folder}/profile",
                "--timeout=60000",
                "--dump-dom",
                file.as_uri(),
            ],
            capture_output=True,
            text=True,
            check=True,
        )
        title = re.search(r"<title>(opened.*?)</title>", done.stdout)
        print(f"browser, ms: {title[1] if title else 'no answer'}")


if __name__ == "__main__":
    main()
