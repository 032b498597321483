"""The examples of docs/how-to/section.md, a section and a column: applied to a copy, and read in every format."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[2]
SET = ROOT / "tests" / "results" / "sets" / "two_passes"
SHOW = """
import json, sys
from pathlib import Path
from suite import results
from suite.page.formats.export import export
from suite.page.formats.render import page
from suite.page.report import report

loaded = results.load(Path(sys.argv[1]))
written = {form: export(loaded).written(form) for form in ("md", "csv", "json")}
console = [[table.title, *table.heads] for section in report(loaded).sections for table in section.console()]
frame = loaded.stacks().to_dict(as_series=False)
print(json.dumps(written | {"html": page(loaded), "frame": frame, "console": console}))
"""


def shown(tmp_path: Path, place: int) -> dict[str, Any]:
    """What a copy of the program says of a set in each format, once one of the guide's two diffs is applied to it."""
    text = (ROOT / "docs" / "how-to" / "section.md").read_text(encoding="utf-8")
    diffs = re.findall(r"^```diff\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    assert len(diffs) == 2
    for folder in ("suite", "reports", "presets"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    subprocess.run(["git", "apply", "-C1"], cwd=tmp_path, input=diffs[place], text=True, check=True)
    command = [sys.executable, "-c", SHOW, str(SET)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    written: dict[str, Any] = json.loads(done.stdout)
    return written


@pytest.fixture(scope="module")
def with_section(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return shown(tmp_path_factory.mktemp("section"), 0)


@pytest.fixture(scope="module")
def with_column(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    return shown(tmp_path_factory.mktemp("column"), 1)


def test_the_section_is_in_every_format(with_section: dict[str, Any]) -> None:
    assert '<li><a href="#faults">Page faults</a></li>' in with_section["html"]
    answer = "At most 0.0165 a step: numpy on gemm forward."
    assert f'<summary><h2>Page faults</h2> <span class="gist">{answer}</span></summary>' in with_section["html"]
    assert f"- Page faults: {answer}" in with_section["md"]
    assert json.loads(with_section["json"])["answers"]["faults"] == answer
    assert "### Page faults" in with_section["md"] and "| gemm train | numpy |" in with_section["md"]
    assert ["Page faults", "question", "stack", "page faults (a step)", "peak memory"] in with_section["console"]
    rows = json.loads(with_section["json"])["faults"]
    assert [(row["question"], row["page_faults"]) for row in rows] == [("gemm forward", 0.0165), ("gemm train", 0.0165)]


def test_the_column_is_in_every_format(with_column: dict[str, Any]) -> None:
    assert with_column["html"].count('<th scope="col">Outliers</th>') == 4, "a count and a share, twice"
    shares = [row["outlier_share"] for part in json.loads(with_column["json"])["comparisons"] for row in part["stacks"]]
    assert len(shares) == 2 and all(0 < share < 1 for share in shares)
    assert with_column["frame"]["outlier_share"] == pytest.approx(shares)
