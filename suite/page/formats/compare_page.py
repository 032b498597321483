"""Renders a comparison of sets as one self-contained HTML page, with the figures and cells of the report."""

from __future__ import annotations

from collections.abc import Sequence

from suite import units
from suite.answers.facts import known
from suite.page.between_sets import Compared, change_word
from suite.page.formats.render import filled
from suite.page.sections.whole_set.reproduce import source
from suite.results import Results

FILE_NAME = "compare.html"


def compare_page(compared: Sequence[Compared], sets: Sequence[Results], chosen: str | None = None) -> str:
    """Returns the page's HTML; `sets` begins with the set that the others are compared with, and `chosen` is a title in
    place of their names."""
    protocol = sets[0].protocol
    return filled(
        "compare.html.j2",
        styles=("style.css", "map.css"),
        title=chosen or title(sets),
        sets=[*map(set_facts, sets)],
        compared=compared,
        change_word=change_word,
        confidence=units.percent(protocol.confidence),
        tie_percent=units.percent(protocol.tie_ratio - 1),
    )


def title(sets: Sequence[Results]) -> str:
    """Returns the title: `B against A` for two sets, `2 sets against A` for three, `A` for one. A is the first of
    `sets`, with which the others are compared."""
    first, *others = (results.set_id for results in sets)
    if not others:
        return first
    return f"{others[0] if len(others) == 1 else f'{len(others)} sets'} against {first}"


def set_facts(results: Results) -> dict[str, str]:
    file = results.plan_file
    revision, modified = source(results.path / "inputs")
    return known(
        {
            "Set": results.set_id,
            "Measured": f"{file.created_at[:16].replace('T', ' ')} UTC" if file else "",
            "Revision": f"{revision[:12]}{', modified' if modified else ''}" if revision.strip() else "",
            "Machine": results.described_machine,
        }
    )
