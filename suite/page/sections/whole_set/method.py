"""The section "Method": how the set was measured and judged, with the protocol's constants."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict

from suite.answers.facts import facts_of
from suite.case import Purpose
from suite.page.sections.section import Context, Section
from suite.page.sections.whole_set.terms import constants
from suite.protocol import SAMPLINGS
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


def method(context: Context) -> Section:
    protocol, analysis = context.frame.protocol, context.frame.analysis
    quoted, how = constants(protocol), sampled(analysis.counted)
    answer = (
        f"Fresh processes run in shuffled blocks, and a ratio pairs those of one block. All {quoted['confidence']} "
        f"intervals hold together. A ratio within ±{quoted['tie']} is a tie."
    )
    return Section(
        "method",
        "Method",
        answer,
        heading="Method in short",
        shown={
            "analysis": analysis,
            "sampled": how,
            "has_rounds": ROUNDS in how,
            "constants": quoted,
            "protocol": facts_of({name.replace("_", " "): value for name, value in asdict(protocol).items()}),
        },
    )
