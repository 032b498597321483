"""How far a set can be trusted, in one word; the notices say why."""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from suite.report.notices import doubtful, incomplete, noisy, one_block, out_of_reach, unpinned
from suite.report.sections.whole_set.environment import BlockRecord
from suite.results.analysis import Analysis
from suite.results.store.plan_file import PlanFile


class Trust(StrEnum):
    """The words of the page's badge."""

    QUIET = "quiet"
    RESTLESS = "restless"
    WEAK = "weak"

    @property
    def explained(self) -> str:
        """Returns a sentence on the meaning of the word."""
        return EXPLAINED[self]


EXPLAINED = {
    Trust.QUIET: "No reading of the machine's noise exceeded its limit, and every verdict had the blocks it needs.",
    Trust.RESTLESS: "Small differences are undecided, because of what the notices below say: noise, or wide intervals.",
    Trust.WEAK: "This set can't carry firm verdicts: read why before you quote a number.",
}


def trust(analysis: Analysis, file: PlanFile | None, records: Sequence[BlockRecord], moved: str | None) -> Trust:
    """Returns how far a set can be trusted; `moved` says that the machine's ceiling changed while it was measured."""
    if any((*incomplete(analysis, file), *doubtful(analysis), *one_block(analysis), *unpinned(analysis))):
        return Trust.WEAK
    return Trust.RESTLESS if any((*noisy(records), *out_of_reach(analysis), moved)) else Trust.QUIET
