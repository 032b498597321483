"""The section "Two settings": each stack compared with itself under two values of one field of its cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from suite import units
from suite.report.sections.section import Context, Section
from suite.report.sections.sentences import by_number, capital
from suite.report.tables import Table
from suite.results.stack_columns import estimate_json
from suite.results.within_set import FieldComparison, FieldSpeedup

TITLES = {
    "cache": "Cold and warm compile cache",
    "track": "Default and tuned track",
    "precision": "Precisions",
    "pass": "Forward and training step",
    "variant": "Variants of one stack",
}
EXPLAINED = {
    "cache": "The ratio compares first runs, compilation included: the time with empty caches divided by the time with "
    "caches that an earlier process filled.",
    "track": "The same step with each stack's documented knobs, over what a competent user writes.",
    "precision": "The same step in less exact arithmetic. Each framework's bf16 is its own mixed precision.",
    "pass": "The forward pass's time is divided by the training step's time. A training step is more work, so the "
    "ratio is under 1×.",
    "variant": "The same stack from another lock file, or with other flags.",
}
MOST_LINES = 12  # a longer table is folded


@dataclass(frozen=True, slots=True)
class WaysView:
    """One field: for each stack on each question, the ratios of the field's other values over the value `base`."""

    field: str
    anchor: str
    title: str
    explained: str
    base: str
    clock: str
    lines: tuple[FieldSpeedup, ...]

    @property
    def is_long(self) -> bool:
        """Whether the table is so long that the page folds it."""
        return len(self.lines) > MOST_LINES


@dataclass(frozen=True, slots=True)
class WaysSection(Section):
    """All fields that have several values in the set."""

    views: tuple[WaysView, ...]

    name = "ways"
    nav = "Two settings"
    heading = "One stack under two settings"
    key = "ways"
    terms = ("cache", "settings", "bf16", "verdict", "undecided")

    @classmethod
    def of(cls, context: Context) -> WaysSection | None:
        """Returns the section; None if no field has two values."""
        views = tuple(map(ways_view, context.analysis.ways))
        return cls(views) if views else None

    @property
    def answer(self) -> str:
        """Returns how many ratios of each field have which verdict."""
        fields = (f"{view.title.lower()}: {verdicts(view)}" for view in self.views)
        return f"{capital('; '.join(fields))}."

    def tables(self) -> Sequence[Table]:
        """Returns a table for each field."""
        return [ways_table(view) for view in self.views]

    def console(self) -> Sequence[Table]:
        """Returns nothing: `./stackwars compare --by` prints these tables."""
        return []

    def data(self) -> list[Any]:
        """Returns each field with its cases."""
        return [ways_json(view) for view in self.views]


def ways_view(ways: FieldComparison, base: str | None = None) -> WaysView:
    """Returns the view of a field. Its values are compared with `base`, or by default with the field's plain value."""
    chosen, field = base or ways.base, ways.field
    return WaysView(field, f"w-{field}", TITLES[field], EXPLAINED[field], chosen, ways.clock, ways.over(chosen))


def verdicts(view: WaysView) -> str:
    """Returns `warm 5 faster, 1 undecided`: for each other value, how many ratios over the base have which verdict."""
    counts: dict[str, Counter[str]] = {}
    for way in view.lines:
        counts.setdefault(way.speedup.stack, Counter())[way.speedup.verdict] += 1
    return ", ".join(f"{value} {by_number(words.most_common())}" for value, words in counts.items())


def ways_table(view: WaysView) -> Table:
    """Returns the table of a field: a line for each stack on each question and value."""
    over = f"speedup over {view.base}"
    lines = [
        [
            way.question,
            way.stack,
            way.speedup.stack,
            f"{way.speedup.verdict}{way.speedup.why and f' ({way.speedup.why})'}",
            units.estimate(way.speedup.ratio.value, way.speedup.ratio.low, way.speedup.ratio.high),
        ]
        for way in view.lines
    ]
    return Table(view.title, ["question", "stack", view.field, "verdict", over], lines, numbers=[over])


def ways_json(view: WaysView) -> dict[str, Any]:
    """Returns a field for JSON, with the ratio of each value over the baseline value."""
    return {
        "by": view.field,
        "baseline": view.base,
        "clock": view.clock,
        "cases": [
            {
                "question": way.question,
                "stack": way.stack,
                "value": way.speedup.stack,
                "verdict": way.speedup.verdict,
                "reason": way.speedup.reason,
                "ratio": estimate_json(way.speedup.ratio),
            }
            for way in view.lines
        ],
    }
