"""Turns a result set into one HTML page, and into the tables and data of the console, Markdown, CSV and JSON.
`site/` makes pages of many sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suite.page.sections.timed.headlines import Headline
    from suite.results import Results


def headline(results: Results, baseline: str | None = None) -> list[Headline]:
    """Returns the answer to each comparison of a loaded set; `.text` is the sentence, the other fields are its parts.

    Raises UserError for a baseline that the set doesn't have.
    """
    # Parsing a command line imports this package, and needs neither numpy nor scipy, which this import loads.
    from suite.page.sections.timed.headlines import headlines

    return list(headlines(results.analysis(baseline)))
