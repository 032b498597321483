"""Sets held against each other, as one self-contained HTML file: the figures and cells are the report's own."""

from __future__ import annotations

from collections.abc import Sequence

from suite import units
from suite.report.between_sets import Compared, change_word
from suite.report.formats.render import filled
from suite.report.sections.surroundings import Fact, source
from suite.results import Results

FILE_NAME = "compare.html"


def compare_page(compared: Sequence[Compared], sets: Sequence[Results]) -> str:
    """The page's HTML; `sets` are those that are compared, the first of them first."""
    protocol = sets[0].protocol
    return filled(
        "compare.html.j2",
        title=title(sets),
        sets=[set_facts(each) for each in sets],
        compared=compared,
        change_word=change_word,
        confidence=units.percent(protocol.confidence),
        tie_percent=units.percent(protocol.tie_ratio - 1),
    )


def title(sets: Sequence[Results]) -> str:
    """`B against A`."""
    first, *others = map(name, sets)
    if not others:
        return first
    return f"{others[0] if len(others) == 1 else f'{len(others)} sets'} against {first}"


def name(results: Results) -> str:
    """The set's name."""
    return results.plan.set_id if results.plan else results.path.stem


def set_facts(results: Results) -> tuple[Fact, ...]:
    """The line of a set under the title."""
    plan = results.plan
    revision, modified = source(results.path / "inputs")
    shown = {
        "Set": name(results),
        "Measured": f"{plan.created_at[:16].replace('T', ' ')} UTC" if plan else "",
        "Revision": f"{revision[:12]}{', modified' if modified else ''}" if revision.strip() else "",
        "Machine": results.described_machine,
    }
    return tuple(Fact(name, value) for name, value in shown.items() if value)
