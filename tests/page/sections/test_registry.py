"""Every section is one answer or function, one template and one line of the registry; nothing else knows it."""

from __future__ import annotations

import re
from pathlib import Path

from suite.answers.answer import Asked
from suite.page.formats.render import TEMPLATES
from suite.page.report import Report
from suite.page.sections.registry import KEYS, SECTIONS
from suite.page.sections.section import AnswerSection, Section

ROOT = Path(__file__).parents[3]
WRITERS = ("suite/page/report.py", "suite/page/formats/render.py", "suite/page/formats/export.py")


def test_each_section_has_its_template_and_each_template_its_section() -> None:
    own = {kind.__name__ for kind in SECTIONS if not isinstance(kind, Asked)}
    assert {path.name.partition(".")[0] for path in (TEMPLATES / "sections").iterdir()} == own | {
        "answer",
        "comparisons",
    }
    assert len(KEYS) == len(set(KEYS))


def test_the_navigation_leads_to_every_section(made: Report, html_file: Path) -> None:
    page = html_file.read_text(encoding="utf-8")
    assert len({section.nav for section in made.sections}) == len(made.sections)
    for section in made.sections:
        assert f'<a href="#{section.name}">{section.nav}</a>' in page
        assert page.count(f'id="{section.name}"') == 1


def test_no_writer_knows_a_section_by_its_name() -> None:
    classes = {kind.__name__ for kind in (*Section.__subclasses__(), *AnswerSection.__subclasses__())}
    for file in WRITERS:
        words = set(re.findall(r"\w+", (ROOT / file).read_text(encoding="utf-8")))
        assert not words & classes, file
    page = (TEMPLATES / "page.html.j2").read_text(encoding="utf-8")
    assert not {*KEYS} & set(re.findall(r"\w+", page))
