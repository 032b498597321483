"""Every section is folded to one sentence of answer, and every word that has a meaning is in the glossary."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from suite import results
from suite.answers.answer import ASKED
from suite.answers.sentences import by_number, counted, first_of, listed
from suite.case import Flag
from suite.page.formats.export import export
from suite.page.formats.render import TEMPLATES, term
from suite.page.report import Report
from suite.page.sections.whole_set.terms import FLAG_TERMS, term_id, terms
from tests.page.test_report import Page


def test_the_page_folds_every_section_to_its_answer(made: Report, html_file: Path) -> None:
    page = html_file.read_text(encoding="utf-8")
    heads = re.findall(r'<details><summary><h2>(.*?)</h2> <span class="gist">(.*?)</span></summary>', page)
    assert len(heads) == len(made.sections) >= 12
    for section in made.sections:
        assert section.answer.strip() and "\n" not in section.answer and len(section.answer) < 240, section.name
        assert f'<div class="unfolded" id="{section.name}">' in page
        assert f'<a class="anchor" href="#{section.name}"' in page
    assert not re.search(r"<details[^>]*open[^>]*><summary><h2>", page)


def test_markdown_and_json_have_the_answers(made: Report, loaded: results.Results) -> None:
    written = export(loaded)
    markdown = written.written("md").replace("\\", "")
    for section in made.sections:
        assert f"- {section.nav}: {section.answer}".replace("&", "&amp;") in markdown
    assert json.loads(written.written("json"))["answers"] == {each.name: each.answer for each in made.sections}


def test_the_answers_of_a_set(made: Report) -> None:
    answers = {section.name: section.answer for section in made.sections}
    assert "3 questions" in answers["comparisons"] and "jax_jit on 3" in answers["comparisons"]
    assert "ffn train" in answers["break_even"] and " numpy up to step " in answers["break_even"]
    assert "wrong: torch_inductor on selu forward" in answers["equivalence"]
    assert answers["endings"].startswith("24 of 30 planned cases ended ok; 1 ")


def test_every_term_is_explained_once_and_linked_where_it_is_used(html_file: Path) -> None:
    page = Page(html_file.read_text(encoding="utf-8"))
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    assert {term_id(word) for word in terms()} <= ids
    assert len({term_id(word) for word in terms()}) == len(terms())
    in_sentences = {
        word
        for template in TEMPLATES.rglob("*.html.j2")
        for word in re.findall(r'\bterm\("([^"]+)"', template.read_text(encoding="utf-8"))
    }
    used = in_sentences | {word for asked in ASKED.values() for word in asked.terms} | {*FLAG_TERMS.values()}
    assert {*FLAG_TERMS} == {*Flag}
    assert used == terms().keys(), "a word without a meaning, or a meaning of a word that nothing links to"


def test_a_word_that_the_glossary_lacks_is_an_error() -> None:
    with pytest.raises(KeyError, match="no term 'speedups'"):
        term("speedups")
    assert term("speedup", "a <b>") == '<a class="term" href="#term-speedup">a &lt;b&gt;</a>'


def test_pieces_of_sentences() -> None:
    assert [counted(n, "process") for n in (0, 1, 1200)] == ["0 processes", "1 process", "1,200 processes"]
    assert [listed(list("abcdefg"[:n])) for n in (1, 2, 5, 6)] == [
        "a",
        "a and b",
        "a, b, c, d and e",
        "a, b, c and 3 others",
    ]
    assert by_number([("faster", 2), ("slower", 0), ("tie", 1)]) == "2 faster, 1 tie"
    assert first_of(["One.", "", "Two."], "question") == "One (and 1 more question)." and first_of([], "x") == ""
