"""The section "Method": how the set was measured and judged, with the protocol's constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass

from suite.answers.facts import facts_of
from suite.case import Purpose
from suite.protocol import SAMPLINGS
from suite.report.sections.section import Context, Section
from suite.report.sections.whole_set.terms import constants
from suite.results.analysis import Analysis
from suite.sets.rows import Row

ROUNDS = "in rounds"
IN_WORDS = dict(zip(SAMPLINGS, ("one process after another", ROUNDS), strict=True))


def sampled(rows: Iterable[Row]) -> str:
    """Returns how timed processes took their samples: `in rounds`, `one process after another`, or both, each with its
    number of processes. Empty if no timed process took samples."""
    timed = [row for row in rows if row["purpose"] == Purpose.TIMED and row["synced_seconds"]]
    # A set without the column was measured before rounds existed.
    counts = Counter(IN_WORDS[row["sampling"] or SAMPLINGS[0]] for row in timed)
    if len(counts) < 2:
        return next(iter(counts), "")
    return ", ".join(f"{words} ({count} of {len(timed)} processes)" for words, count in counts.most_common())


@dataclass(frozen=True, slots=True)
class MethodSection(Section):
    """How the set was `sampled` and judged, with the `constants` that the template's sentences quote."""

    analysis: Analysis
    sampled: str
    constants: Mapping[str, str]

    name = "method"
    nav = "Method"
    heading = "Method in short"
    grows = False

    @classmethod
    def of(cls, context: Context) -> MethodSection:
        return cls(context.analysis, sampled(context.analysis.counted), constants(context.protocol))

    @property
    def protocol(self) -> Mapping[str, str]:
        return facts_of({name.replace("_", " "): value for name, value in asdict(self.analysis.protocol).items()})

    @property
    def has_rounds(self) -> bool:
        return ROUNDS in self.sampled

    @property
    def answer(self) -> str:
        return (
            f"Fresh processes in shuffled blocks, paired inside a block; simultaneous {self.constants['confidence']} "
            f"intervals; a tie is within ±{self.constants['tie']}."
        )
