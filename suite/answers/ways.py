"""Each stack under two values of one field of its cases."""

from __future__ import annotations

from collections import Counter

import polars as pl

from suite.answers.answer import Answer, answer
from suite.answers.sentences import by_number, capital
from suite.results.frame import Frame
from suite.results.ratios import ends
from suite.results.within_set import FieldComparison

TITLES = {
    "cache": "Cold and warm compile cache",
    "track": "Default and tuned track",
    "precision": "Precisions",
    "pass": "Forward and training step",
    "threads": "Numbers of cores",
    "variant": "Variants of one stack",
}
EXPLAINED = {
    "cache": "The ratio compares first runs, compilation included: the time with empty caches divided by the time with "
    "caches that an earlier process filled.",
    "track": "The same step with each stack's documented knobs, over what a competent user writes.",
    "precision": "The same step in less exact arithmetic. Each framework's bf16 is its own mixed precision.",
    "pass": "The forward pass's time is divided by the training step's time. A training step is more work, so the "
    "ratio is under 1×.",
    "threads": "The same step with more cores, over one with fewer.",
    "variant": "The same stack from another lock file, or with other flags.",
}
TYPES = {
    **dict.fromkeys(("by", "question", "stack", "value", "baseline", "clock", "verdict", "verdict_note"), pl.String),
    **dict.fromkeys(("speedup", "speedup_low", "speedup_high"), pl.Float64),
}


@answer(
    "Two settings",
    heading="One stack under two settings",
    terms=("cache", "settings", "bf16", "verdict", "undecided"),
    parts="by",
    on_console=False,  # `./stackwars compare --by` prints these tables
)
def ways(frame: Frame) -> Answer | None:
    """Each table compares a stack with itself under two settings of one option, both measured in the same blocks. Above
    1× is faster."""
    found = frame.analysis.within_set
    if not found:
        return None
    tables = {each.field: settings(each, each.base) for each in found}
    said = "; ".join(f"{TITLES[field].lower()}: {verdicts(table)}" for field, table in tables.items())
    return Answer(
        f"{capital(said)}.",
        pl.concat(tables.values()),
        also=[f"{TITLES[field]}: {EXPLAINED[field]}" for field in tables],
    )


def settings(comparison: FieldComparison, base: str) -> pl.DataFrame:
    """Returns every other value of a field over the value `base`, for each stack on each question."""
    lines = [
        {
            "by": comparison.field,
            "question": speedup.name,
            "stack": comparison.stacks[speedup.comparison_id],
            "value": speedup.stack,
            "baseline": base,
            "clock": comparison.clock,
            "verdict": speedup.verdict,
            "verdict_note": speedup.why or speedup.note,
            **ends("speedup", speedup.ratio),
        }
        for speedup in comparison.over(base)
    ]
    return pl.DataFrame(lines, schema=TYPES)


def verdicts(table: pl.DataFrame) -> str:
    """Returns `warm 5 faster, 1 undecided`: for each other value, how many ratios over the base have which verdict."""
    counts: dict[str, Counter[str]] = {}
    for value, word in table.select("value", "verdict").iter_rows():
        counts.setdefault(value, Counter())[word] += 1
    return ", ".join(f"{value} {by_number(words.most_common())}" for value, words in counts.items())
