"""One result set to one self-contained HTML file. Nothing in it is loaded from anywhere."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from suite import results, units
from suite.errors import UserError
from suite.guard.printable import printable
from suite.report.page import report_of
from suite.report.sections.answers import modes_text
from suite.report.sections.outcomes import WORDS, outcome_text
from suite.results.shown import only
from suite.results.store.result_set import ResultSet
from suite.stats import MODES_SPREAD
from suite.units import Unit

TEMPLATES = Path(__file__).parents[3] / "reports" / "templates"
FILE_NAME = "report.html"


def render(path: Path, out: Path | None = None, baseline: str | None = None, stacks: Sequence[str] = ()) -> Path:
    """Write the report of the set at `path` (a folder, or a results.parquet) to `out`; returns its path.

    A page of some `stacks` (globs) is no part of the set: it needs an `out`.

    The same set gives the same bytes. Raises UserError if there is no such set or no such baseline, and if `out`
    can't be written; then nothing is left behind.
    """
    if stacks and out is None:
        raise ValueError("a set's own page shows all of its stacks")
    loaded = results.load(path)
    target = out or (path if path.is_dir() else path.parent) / FILE_NAME
    write(target, page(loaded, baseline, stacks))
    if out is None and path.is_dir():
        stored = ResultSet.open(path)
        if stored.is_whole:
            stored.seal()  # the page is part of the set: its manifest knows the new one
    return target


def write(target: Path, text: str) -> None:
    """A file of text, whole or not at all: without control characters, whatever a set says of itself. Raises UserError
    where it can't be written."""
    if target.is_dir():
        raise UserError(f"{target} is a folder. --out names the file to write, like {target / FILE_NAME}.")
    draft = target.with_name(f".{target.name}.draft")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft.write_text(printable(text), encoding="utf-8")
        draft.replace(target)
    except OSError as broken:
        raise UserError(
            f"The report can't be written to {target}: {broken.strerror}. Choose another file with --out=FILE."
        ) from broken
    finally:
        with suppress(OSError):
            draft.unlink(missing_ok=True)


def page(loaded: results.Results, baseline: str | None = None, stacks: Sequence[str] = ()) -> str:
    """The report's HTML, of all stacks or of some (globs)."""
    protocol = loaded.protocol
    return filled(
        "page.html.j2",
        report=report_of(loaded, only(loaded.analysis(baseline), stacks)),
        confidence=units.percent(protocol.confidence),
        modes_spread=units.ratio(MODES_SPREAD),
        tie_percent=units.percent(protocol.tie_ratio - 1),
        drift_percent=units.percent(protocol.canary_drift_max),
        steal_percent=units.percent(protocol.steal_share_max),
    )


def filled(template: str, **values: Any) -> str:
    """A page of its own from a template: with the one style, the one script, and the policy that allows these alone."""
    style = (TEMPLATES / "partials" / "style.css").read_text(encoding="utf-8")
    script = (TEMPLATES / "partials" / "script.js").read_text(encoding="utf-8")
    shared = {"policy": policy(style, script), "style": style, "script": script}
    return environment().get_template(template).render(shared | values)


def environment() -> Environment:
    """Jinja2 with autoescape on for every template, whatever its name ends in; a missing value is an error."""
    templates = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    templates.globals |= {
        "units": units,
        "words": WORDS,
        "outcome_text": outcome_text,
        "modes_text": modes_text,
        "milliseconds": Unit("ms", 1e-3),
    }
    return templates


def policy(style: str, script: str) -> str:
    """The Content-Security-Policy: nothing but this very style and this very script."""
    return (
        f"default-src 'none'; style-src {_source(style)}; script-src {_source(script)}; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )


def _source(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"
