"""Every section is one class, one template and one line of the registry; nothing else knows it."""

from __future__ import annotations

import re
from pathlib import Path

from suite.report.formats.render import TEMPLATES
from suite.report.page import Report
from suite.report.sections.registry import SECTIONS
from suite.report.sections.section import AnswerSection

ROOT = Path(__file__).parents[3]
WRITERS = ("suite/report/page.py", "suite/report/formats/render.py", "suite/report/formats/export.py")


def test_each_section_has_its_template_and_each_template_its_section() -> None:
    own = {kind.name for kind in SECTIONS if not issubclass(kind, AnswerSection)}
    assert {path.name.partition(".")[0] for path in (TEMPLATES / "sections").iterdir()} == own | {
        "answer",
        "comparisons",
    }
    for field in ("name", "nav", "key"):
        values = [getattr(kind, field) for kind in SECTIONS if getattr(kind, field)]
        assert len(values) == len(set(values)), field


def test_the_navigation_leads_to_every_section(made: Report, html_file: Path) -> None:
    page = html_file.read_text(encoding="utf-8")
    for section in made.sections:
        assert f'<a href="#{section.target}">{section.nav}</a>' in page
        assert page.count(f'id="{section.target}"') == 1


def test_no_writer_knows_a_section_by_its_name() -> None:
    classes = {kind.__name__ for kind in SECTIONS}
    for file in WRITERS:
        words = set(re.findall(r"\w+", (ROOT / file).read_text(encoding="utf-8")))
        assert not words & classes, file
    page = (TEMPLATES / "page.html.j2").read_text(encoding="utf-8")
    assert not {kind.name for kind in SECTIONS} & set(re.findall(r"\w+", page))
