"""From a result set to one HTML file, and to the sentences that the console prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from suite.report.sections.answers import Headline
    from suite.results import Results


def headline(results: Results, baseline: str | None = None) -> list[Headline]:
    """The answer to each comparison of a loaded set; `.text` is the sentence, the other fields its parts.

    Raises UserError for a baseline that the set doesn't have.
    """
    # The package is imported to parse a command line; numpy and scipy can wait.
    from suite.report.sections.answers import headlines

    return list(headlines(results.analysis(baseline)))
