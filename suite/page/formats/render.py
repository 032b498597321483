"""Writes one result set as one self-contained HTML file, which loads nothing from anywhere."""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import msgspec
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from suite import results, units
from suite.environments.checkout import has_commit, project_address
from suite.guard.out import write_out, write_own
from suite.page.map.other_baselines import answers_over, other_baselines
from suite.page.report import Report
from suite.page.sections.timed.headlines import modes_text
from suite.page.sections.whole_set.terms import FLAG_TERMS, flag_title, flag_words, term_id
from suite.results.outcomes import WORDS, outcome_text
from suite.sets.manifest import RESULTS
from suite.sets.result_set import ResultSet

TEMPLATES = Path(__file__).parents[3] / "reports" / "templates"
FILE_NAME = "report.html"


def render(
    path: Path,
    out: Path | None = None,
    baseline: str | None = None,
    stacks: Sequence[str] = (),
    questions: Sequence[str] = (),
) -> Path:
    """Writes the report of the set at `path` (a folder, or a results.parquet) to `out`, or else into the set; returns
    the file's path. A page of some `stacks` or `questions` (globs) is no part of the set: it needs an `out`.

    The same set gives the same bytes. Raises UserError if there is no such set or no such baseline, and if `out` can't
    be written; then nothing is left behind.
    """
    if (stacks or questions) and out is None:
        raise ValueError("a set's own page shows all of its stacks and questions")
    loaded = results.load(path)
    return render_report(path, Report(loaded, loaded.analysis(baseline, stacks, questions)), out)


def render_report(path: Path, report: Report, out: Path | None = None) -> Path:
    """Writes a `report` that was already made of the set at `path`; otherwise like `render`."""
    if out is not None:
        write_out(out, page_of(report))
        return out
    target = (path if path.is_dir() else path.parent) / FILE_NAME
    write_own(target, page_of(report, beside=(target.parent / RESULTS).is_file()))
    if path.is_dir():
        stored = ResultSet.open(path)
        if stored.is_whole:
            stored.seal_page()  # the page is part of the set, so the manifest must name the new page
    return target


def page(loaded: results.Results, baseline: str | None = None) -> str:
    return page_of(Report(loaded, loaded.analysis(baseline)))


def page_of(report: Report, home: str = "", *, beside: bool = False) -> str:
    """Returns the HTML of a report. `home` is the link to the index of the site that the page is part of. `beside` says
    that results.parquet will lie beside the page, which then links it."""
    overview = report.overview
    others = other_baselines(overview, report.results) if overview else {}
    return filled(
        "page.html.j2",
        styles=("style.css", "lines.css", "map.css"),
        scripts=("script.js", "map.js"),
        report=report,
        overview=overview,
        others=others,
        answers_over=answers_over(overview) if overview and others else {},
        panels=report.panels,
        home=home,
        beside=beside,
        code=code_address(report),
    )


def code_address(report: Report) -> str:
    """Returns the address below which the code lies that a set ran; empty if its source was changed, or isn't of this
    project's history."""
    file, address = report.results.plan_file, project_address()
    known = file and file.revision and not file.dirty and address and has_commit(file.revision)
    return f"{address}/blob/{file.revision}" if file and known else ""


def filled(
    template: str, *, styles: Sequence[str] = ("style.css",), scripts: Sequence[str] = ("script.js",), **values: Any
) -> str:
    """Returns a whole page from its template, with styles and scripts from partials/, and a policy that allows only
    them."""
    style, script = (
        "".join((TEMPLATES / "partials" / name).read_text(encoding="utf-8") for name in names)
        for names in (styles, scripts)
    )
    shared = {"policy": policy(style, script), "style": style, "script": script}
    return environment().get_template(template).render(shared | values)


@cache
def environment() -> Environment:
    """Returns Jinja2's environment, one for all pages, so that each template is compiled once. It escapes every value
    in every template of HTML, and a missing value is an error."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=lambda name: name is None or not name.endswith(".md.j2"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.policies["json.dumps_function"] = lambda value, **_: msgspec.json.encode(value).decode()
    templates.globals |= {
        "units": units,
        "words": WORDS,
        "outcome_text": outcome_text,
        "modes_text": modes_text,
        "term": term,
        "prose": prose,
        "term_id": term_id,
        "flag_terms": FLAG_TERMS,
        "flag_title": flag_title,
        "flag_words": flag_words,
        "brand": brand(project_address()),
        "guide": guide,
    }
    return templates


def brand(address: str) -> Markup:
    return Markup('<a href="{}">Stack Wars</a>').format(address) if address else Markup("Stack Wars")


def guide(page: str, words: str) -> Markup:
    """Returns a link to a page of the project's repository; without an address, the words and the page's name."""
    address = project_address()
    if not address:
        return Markup("{} (<code>{}</code>)").format(words, page)
    return Markup('<a href="{}/blob/main/{}">{}</a>').format(address, page, words)


def term(word: str, words: str = "") -> Markup:
    """Returns a link to a word of the glossary, with `words` as its text if the sentence needs another form. Raises
    KeyError for a word that the glossary doesn't have."""
    return Markup('<a class="term" href="#{}">{}</a>').format(term_id(word), words or word)


def prose(text: str) -> Markup:
    """Returns a docstring as HTML: `*word*` is emphasis, a word in backquotes is code."""
    safe = str(escape(" ".join(text.split())))
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", re.sub(r"\*([^*]+)\*", r"<i>\1</i>", safe)))


def policy(style: str, script: str) -> str:
    """Returns the Content-Security-Policy that allows this style and this script, and nothing else."""
    return (
        f"default-src 'none'; style-src {digest(style)}; script-src {digest(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def digest(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
