"""What one set asked in two ways, as the page shows it: a table a field."""

from __future__ import annotations

from dataclasses import dataclass

from suite import units
from suite.report.formats.tables import Table
from suite.results.within_set import Way, Ways

TITLES = {
    "cache": "Cold and warm compile cache",
    "track": "Default and tuned track",
    "precision": "Precisions",
    "pass": "Forward and training step",
    "variant": "Variants of one stack",
}
SAID = {
    "cache": "The first run, with its compilation: with the caches of an earlier process over without.",
    "track": "The same step with each stack's documented knobs over what a competent user writes.",
    "precision": "The same step in less exact arithmetic. Each framework's bf16 is its own mixed precision.",
    "pass": "A whole training step over its forward pass alone: more work, so under 1×; by how much is the answer.",
    "variant": "The same stack by another lock or other flags.",
}
MOST_LINES = 12  # more are folded


@dataclass(frozen=True, slots=True)
class WaysSection:
    """One field: each stack on each question, its other values over the plain one."""

    field: str
    anchor: str
    title: str
    said: str
    base: str
    lines: tuple[Way, ...]

    @property
    def is_long(self) -> bool:
        """Whether the page folds it."""
        return len(self.lines) > MOST_LINES


def ways_section(ways: Ways, base: str | None = None) -> WaysSection:
    """The section of a field, over its plain value or another one."""
    chosen = base or ways.base
    return WaysSection(ways.field, f"w-{ways.field}", TITLES[ways.field], SAID[ways.field], chosen, ways.over(chosen))


def table_of(section: WaysSection) -> Table:
    """The same without the page."""
    heads = ["question", "stack", section.field, f"speedup over {section.base}", "verdict"]
    lines = [
        [
            each.question,
            each.stack,
            each.speedup.stack,
            units.estimate(each.speedup.ratio.value, each.speedup.ratio.low, each.speedup.ratio.high),
            each.speedup.verdict,
        ]
        for each in section.lines
    ]
    return Table(section.title, heads, lines, numbers=heads[3:4])
