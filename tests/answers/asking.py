"""An answer of some rows."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from suite.answers.answer import ASKED, Answer
from suite.page.sections import registry  # noqa: F401  # which knows all answers
from suite.results import Results
from suite.results.frame import Frame
from suite.sets.rows import Row


def asked(name: str, rows: Sequence[Row], baseline: str | None = None, **columns: Any) -> Answer | None:
    """What an answer says of a set of these rows; `columns` are fields of `Results`."""
    of = Results(Path("set"), None, list(rows), [], {}, **columns)
    return ASKED[name].function(Frame(of, of.analysis(baseline)))


def answered(name: str, rows: Sequence[Row], baseline: str | None = None, **columns: Any) -> Answer:
    """The same, which must be there."""
    found = asked(name, rows, baseline, **columns)
    assert found is not None
    return found
