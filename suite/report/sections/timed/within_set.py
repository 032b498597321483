"""The section "Two settings": each stack compared with itself under two values of one field of its cases."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from suite import units
from suite.answers.sentences import by_number, capital
from suite.report.sections.section import Context, Section
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
class FieldView:
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
class WithinSetSection(Section):
    """All fields that have several values in the set."""

    views: tuple[FieldView, ...]

    name = "within_set"
    anchor = "ways"
    nav = "Two settings"
    heading = "One stack under two settings"
    key = "ways"
    terms = ("cache", "settings", "bf16", "verdict", "undecided")

    @classmethod
    def of(cls, context: Context) -> WithinSetSection | None:
        """Returns the section; None if no field has two values."""
        views = tuple(map(field_view, context.analysis.within_set))
        return cls(views) if views else None

    @property
    def answer(self) -> str:
        """Returns how many ratios of each field have which verdict."""
        fields = (f"{view.title.lower()}: {verdicts(view)}" for view in self.views)
        return f"{capital('; '.join(fields))}."

    def tables(self) -> Sequence[Table]:
        """Returns a table for each field."""
        return [field_table(view) for view in self.views]

    def console(self) -> Sequence[Table]:
        """Returns nothing: `./stackwars compare --by` prints these tables."""
        return []

    def data(self) -> list[Any]:
        """Returns each field with its cases."""
        return [field_json(view) for view in self.views]


def field_view(comparison: FieldComparison, base: str | None = None) -> FieldView:
    """Returns the view of a field. Its values are compared with `base`, by default the field's usual value (`cold`,
    `f32`, …)."""
    chosen, field = base or comparison.base, comparison.field
    return FieldView(
        field, f"w-{field}", TITLES[field], EXPLAINED[field], chosen, comparison.clock, comparison.over(chosen)
    )


def verdicts(view: FieldView) -> str:
    """Returns `warm 5 faster, 1 undecided`: for each other value, how many ratios over the base have which verdict."""
    counts: dict[str, Counter[str]] = {}
    for line in view.lines:
        counts.setdefault(line.speedup.stack, Counter())[line.speedup.verdict] += 1
    return ", ".join(f"{value} {by_number(words.most_common())}" for value, words in counts.items())


def field_table(view: FieldView) -> Table:
    """Returns the table of a field: a line for each stack on each question and value."""
    over = f"speedup over {view.base}"
    lines = [
        [
            line.question,
            line.stack,
            line.speedup.stack,
            f"{line.speedup.verdict}{line.speedup.why and f' ({line.speedup.why})'}",
            units.estimate(line.speedup.ratio.value, line.speedup.ratio.low, line.speedup.ratio.high),
        ]
        for line in view.lines
    ]
    return Table(view.title, ["question", "stack", view.field, "verdict", over], lines, numbers=[over])


def field_json(view: FieldView) -> dict[str, Any]:
    """Returns a field for JSON, with the ratio of each value over the baseline value."""
    return {
        "by": view.field,
        "baseline": view.base,
        "clock": view.clock,
        "cases": [
            {
                "question": line.question,
                "stack": line.stack,
                "value": line.speedup.stack,
                "verdict": line.speedup.verdict,
                "reason": line.speedup.reason,
                "ratio": estimate_json(line.speedup.ratio),
            }
            for line in view.lines
        ],
    }
