"""How the programs differ that two stacks hand to XLA for the same step."""

from __future__ import annotations

from itertools import combinations

import polars as pl

from suite.answers.answer import Answer, answer
from suite.answers.sentences import counted, listed
from suite.ir.findings import Finding, findings
from suite.results.frame import Frame

NONE = Finding("No difference in anything that is counted.", ())


@answer(
    "Differences",
    heading="How the programs differ",
    terms=("program", "region"),
    parts="question",
    in_markdown=False,
    on_console=False,
)
def differences(frame: Frame) -> Answer | None:
    """Every two stacks whose programs XLA compiles, on the same question. A difference of less than 1 % isn't told."""
    pairs = [
        (question.name, a, b, findings(a, b))
        for question in frame.analysis.programs
        for a, b in combinations(question.of_xla, 2)
    ]
    if not pairs:
        return None
    numbers = [f"{len(found)} between {a.stack} and {b.stack} on {question}" for question, a, b, found in pairs]
    lines = [
        {
            "question": question,
            "stack": a.stack,
            "beside": b.stack,
            "difference": finding.text,
            "counts_of_both": [
                {"quantity": name, "first_count": first, "second_count": second}
                for name, first, second in finding.counts
            ],
        }
        for question, a, b, found in pairs
        for finding in found or [NONE]
    ]
    told = counted(sum(len(found) for *_, found in pairs), "difference")
    return Answer(f"{told}: {listed(numbers)}.", pl.DataFrame(lines, infer_schema_length=None))
