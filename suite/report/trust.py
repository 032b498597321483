"""How far a set can be trusted, in one word and a sentence; the notices say more."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from enum import StrEnum

from suite import units
from suite.report.notices import doubtful, incomplete, one_block, over_limit, too_wide, unpinned, wide_floors
from suite.report.sections.sentences import counted, listed
from suite.report.sections.whole_set.environment import BlockRecord
from suite.results.analysis import Analysis
from suite.results.store.plan_file import PlanFile
from suite.stats import FLOOR_MAX


class Trust(StrEnum):
    """The words of the page's badge."""

    QUIET = "quiet"
    RESTLESS = "restless"
    WEAK = "weak"


def trust(
    analysis: Analysis, file: PlanFile | None, records: Sequence[BlockRecord], moved: str | None
) -> tuple[Trust, str]:
    """Returns how far a set can be trusted, and why in a sentence; `moved` says that the machine's ceiling changed
    while it was measured."""
    if any((*incomplete(analysis, file), *doubtful(analysis), *one_block(analysis), *unpinned(analysis))):
        return Trust.WEAK, "This set can't carry firm verdicts: read why before you quote a number."
    if causes := [*restless(analysis, records, moved)]:
        return Trust.RESTLESS, f"Small differences are undecided, because of {listed(causes)}."
    return (
        Trust.QUIET,
        "No reading of the machine's noise exceeded its limit, and every verdict had the blocks it needs.",
    )


def restless(analysis: Analysis, records: Sequence[BlockRecord], moved: str | None) -> Iterable[str]:
    """Yields what keeps small differences of this set undecided, each cause with its figure."""
    if over := over_limit(records):
        yield f"noise ({len(over)} of {counted(len(records), 'block run')} exceeded a limit)"
    if width := too_wide(analysis):
        tie = units.percent(analysis.protocol.tie_ratio - 1)
        yield f"wide intervals (the narrowest is ±{units.percent(width - 1)}, a tie needs ±{tie})"
    wide, floors = wide_floors(analysis)
    if wide:
        limit = units.percent(FLOOR_MAX - 1)
        yield f"a wide noise floor (over ±{limit} in {wide} of {counted(floors, 'comparison')})"
    if moved:
        yield "a change of the machine's own speed while the set was measured"
