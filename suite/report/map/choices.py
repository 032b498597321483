"""The map for every choice that the page's controls offer, as compact data, which the page's script only shows.

- `stacks` are the map's columns, `questions` the ids of its rows, `signs` the signs of the verdicts.
- `own` is {metric: rows}: each stack's own figure, which no baseline changes; `ends` is {metric: the words at the two
  ends of the scale of colours}.
- `maps` is {metric: {baseline: {caption, rows, over}}}. A cell of `rows` is [CSS classes, words, small print], followed
  by the number of its note in `notes` if it has one; a cell that says how a stack ended is 0, since no choice changes
  it. `over` is {number of a row: sentence on the stack that stands in for the baseline there}.
- `means` is {metric: {baseline: {"pass|precision": {places of the common questions: cells of the top row}}}}; an empty
  pass or precision means all. The common questions are those that all shown stacks answered: `0,1,4`.
- `behind` is {metric: for each question the pairs of stacks, as places, of which the first is shown to be slower than
  the second}; `order` has the stacks of each question, the lowest median first.
- `notes` are the texts of all notes.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from suite.report.map.cells import SIGNS, STATES, Square
from suite.report.map.frames import Behind
from suite.report.map.page_map import Map

Key = tuple[str, str]  # (metric, baseline)


def choices(
    maps: Mapping[Key, Map],
    means: Mapping[Key, Mapping[str, Mapping[tuple[int, ...], Iterable[Square]]]],
    pairs: Mapping[str, Sequence[Behind]],
) -> dict[str, Any]:
    """Returns the data of all maps; `means` has the top row of each part of the questions that can be chosen, and for
    each of its sets of common questions."""
    notes: dict[str, int] = {}  # so that the data has each text once
    any_map = next(iter(maps.values()))
    place = {stack: number for number, stack in enumerate(any_map.columns)}
    by_metric: dict[str, dict[str, Any]] = {}
    tops: dict[str, dict[str, Any]] = {}
    own, ends = {}, {}
    for (metric, baseline), shown in maps.items():
        by_metric.setdefault(metric, {})[baseline] = {
            "caption": shown.caption,
            "rows": [[entry(square, notes) for square in row.squares] for row in shown.rows],
            "over": {number: row.note for number, row in enumerate(shown.rows) if row.note},
        }
        own[metric], ends[metric] = [[square.own for square in row.squares] for row in shown.rows], shown.ends
        tops.setdefault(metric, {})[baseline] = {
            which: {
                ",".join(map(str, common)): [entry(square, notes) for square in squares]
                for common, squares in by_common.items()
            }
            for which, by_common in means[metric, baseline].items()
        }
    return {
        "stacks": list(any_map.columns),
        "questions": [row.anchor for row in any_map.rows],
        "signs": SIGNS,
        "own": own,
        "ends": ends,
        "maps": by_metric,
        "means": tops,
        "behind": {
            metric: [
                sorted([place[slower], place[faster]] for slower, faster in of_question) for of_question in questions
            ]
            for metric, questions in pairs.items()
        },
        "notes": [*notes],
    }


def entry(square: Square, notes: dict[str, int]) -> Sequence[Any] | int:
    """Returns one cell as the script reads it; `notes` has the number of each note, its own included."""
    if square.kind in STATES:
        return 0
    noted = [notes.setdefault(square.note, len(notes))] if square.note else []
    return [square.css, square.words, square.small, *noted]
