"""The section "Method": how the set was measured and judged, with the protocol's constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass

from suite import units
from suite.case import Purpose
from suite.protocol import SAMPLINGS
from suite.report.sections.section import Context, Section
from suite.report.sections.whole_set.facts import Fact, facts_of
from suite.sets.rows import Row
from suite.stats import CLOSE, MODES_SPREAD

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
    """The protocol's constants in words. `family` counts the set's ratios over the baseline; `sampled` says how samples
    were taken."""

    confidence: str
    tie: str
    close: str
    modes_spread: str
    family: int
    baseline: str
    sampled: str
    constants: tuple[Fact, ...]

    name = "method"
    nav = "Method"
    heading = "Method in short"
    grows = False

    @classmethod
    def of(cls, context: Context) -> MethodSection:
        """Returns the section, which every page has."""
        protocol = context.protocol
        return cls(
            confidence=units.percent(protocol.confidence),
            tie=units.percent(protocol.tie_ratio - 1),
            close=units.percent(CLOSE - 1),
            modes_spread=units.ratio(MODES_SPREAD),
            family=len(context.analysis.speedups),
            baseline=context.analysis.baseline,
            sampled=sampled(context.analysis.counted),
            constants=tuple(facts_of({name.replace("_", " "): value for name, value in asdict(protocol).items()})),
        )

    @property
    def has_rounds(self) -> bool:
        """Whether some processes were sampled in rounds."""
        return ROUNDS in self.sampled

    @property
    def answer(self) -> str:
        """Returns how the set's ratios were formed and judged."""
        return (
            f"Fresh processes in shuffled blocks, paired inside a block; simultaneous {self.confidence} "
            f"intervals; a tie is within ±{self.tie}."
        )
