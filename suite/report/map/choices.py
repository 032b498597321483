"""Every choice that the page's controls offer, as compact data: the suite computes and words it, the script shows it.

`stacks` are the map's columns and `questions` the ids of its rows. `maps` is {metric: {baseline: {caption, rows,
over}}}. A cell is [CSS classes, words, small print] and perhaps the number of its note among `notes`; it is 0 where it
says how a stack ended, which no choice changes. `over` has, by the number of its row, the stand-in of a question on
which the baseline has no time that counts. `means` is {metric: {baseline: {"pass|precision": cells of the top row}}},
where an empty pass or precision means all of them. `sentences` has the parts of the page's first sentence by baseline.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from suite.report.map.cells import SIGNS, STATES, Square
from suite.report.map.page_map import Map
from suite.report.map.sentence import Sentence

Key = tuple[str, str]  # (metric, baseline)


class Notes:
    """Texts, each once, by number."""

    def __init__(self) -> None:
        """Begins without a text."""
        self.numbers: dict[str, int] = {}

    def number(self, text: str) -> int:
        """Returns the number of a text."""
        return self.numbers.setdefault(text, len(self.numbers))


def choices(
    maps: Mapping[Key, Map],
    means: Mapping[Key, Mapping[str, Iterable[Square]]],
    sentences: Mapping[str, Sentence | None],
) -> dict[str, Any]:
    """Returns the data of all maps; `means` has the top rows of some questions alone."""
    notes = Notes()
    some = next(iter(maps.values()))
    by_metric: dict[str, dict[str, Any]] = {}
    tops: dict[str, dict[str, Any]] = {}
    for (metric, baseline), shown in maps.items():
        by_metric.setdefault(metric, {})[baseline] = {
            "caption": shown.caption,
            "rows": [[entry(square, notes) for square in row.squares] for row in shown.rows],
            "over": {number: row.note for number, row in enumerate(shown.rows) if row.note},
        }
        tops.setdefault(metric, {})[baseline] = {
            which: [entry(square, notes) for square in squares] for which, squares in means[metric, baseline].items()
        }
    return {
        "stacks": list(some.columns),
        "questions": [row.anchor for row in some.rows],
        "signs": SIGNS,
        "maps": by_metric,
        "means": tops,
        "sentences": {
            stack: [sentence.before, sentence.stack, sentence.after]
            for stack, sentence in sentences.items()
            if sentence
        },
        "notes": [*notes.numbers],
    }


def entry(square: Square, notes: Notes) -> Sequence[Any] | int:
    """Returns one cell as the script reads it."""
    if square.kind in STATES:
        return 0
    noted = [notes.number(square.note)] if square.note else []
    return [square.css, square.words, square.small, *noted]
