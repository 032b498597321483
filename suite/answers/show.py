"""Writes an answer's table for people: each column with one unit in a part, where a part is one question."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from suite import units
from suite.results.columns import COLUMNS, Column
from suite.units import UNKNOWN, Unit

INTERVAL = ("_low", "_high")
BESIDE = (*INTERVAL, "_note", "_item")  # ends of the names of columns that belong to another
DECIDES = "median_seconds"  # alone gives its unit to those with it: sentences and maps write it in the same
MOST = 3  # entries of a table inside a cell, where it is written as text
VERDICTS = {"faster", "slower", "tie", "close", "undecided"}
GOOD = {"ok", "fits", "yes", "accepted"}
PLAIN = {"unsupported", "not run", "not planned", "not compared", "baseline", UNKNOWN}  # what is no failure
ENDINGS = {"error", "crashed", "timeout"}  # in place of the class that a probe was to observe


@dataclass(frozen=True)
class Cell:
    """One value in words, with the `small` print below, or a `note` beside it; `raw` is what a table is sorted by,
    `tag` the class of a tag, `nested` a table inside, `behind` what a click opens: (title, value). `flags` come with
    the share of processes that have them. One that `is_sure` has an interval: a single block proves nothing."""

    text: str
    raw: str = ""
    tag: str = ""
    nested: Part | None = None
    small: str = ""
    note: str = ""
    behind: Sequence[tuple[str, Cell]] = ()
    flags: Sequence[tuple[str, str]] = ()
    is_sure: bool = False


@dataclass(frozen=True)
class Head:
    """A column's title, small print, and whether it has numbers, or the intervals of numbers."""

    title: str
    note: str
    is_number: bool
    is_interval: bool = False


@dataclass(frozen=True)
class Part:
    """One table in words."""

    title: str
    heads: Sequence[Head]
    lines: Sequence[Sequence[Cell]]
    is_beside: bool = False  # stacks stand side by side


def parts(table: pl.DataFrame, by: str = "", across: str = "", shown: Sequence[str] = ()) -> list[Part]:
    """Returns the table as it is shown: one part for each value of the column `by`. The values of `across` stand side
    by side. Only the columns `shown` are shown, if any is named."""
    if table.is_empty():
        return []
    groups = [(str(key), group.drop(by)) for (key,), group in table.group_by(by, maintain_order=True)] if by else []
    return [
        pivoted(title, group, across, shown) if across else part(title, only(group, shown) if shown else group)
        for title, group in groups or [("", table)]
    ]


def only(table: pl.DataFrame, names: Iterable[str]) -> pl.DataFrame:
    """Returns some columns with those that belong to them."""
    wanted = [f"{name}{end}" for name in names for end in ("", *BESIDE)]
    return table.select(name for name in wanted if name in table.columns)


def part(title: str, table: pl.DataFrame, *, whole: bool = False) -> Part:
    """Returns one part. A unit stands in a column's head if one question asks for all of it, else in each cell. The
    `whole` part has its units in cells, and empty columns, too: many such have the same heads."""
    named = [name for name in table.columns if not name.endswith(BESIDE) and COLUMNS[name].title]
    names = [name for name in named if whole or not is_empty(table[name])]
    questions = table["question"].to_list() if "question" in table.columns else [""] * table.height
    bare = not whole and len(set(questions)) < 2
    chosen = [
        chosen_units(table.filter(pl.Series(questions) == question), names) for question in dict.fromkeys(questions)
    ]
    by_question = dict(zip(dict.fromkeys(questions), chosen, strict=True))
    heads, columns = [], []
    for name in names:
        column = COLUMNS[name]
        units_ = [by_question[question].get(name) for question in questions]
        note = " ".join(filter(None, [column.note, units_[0].name if bare and units_ and units_[0] else ""]))
        heads.append(Head(column.title, note, column.is_number))
        values = zip(table[name].to_list(), beside(table, name), units_, strict=True)
        columns.append([cell(column, value, unit, more, bare=bare) for value, more, unit in values])
        if f"{name}_low" in table.columns:
            heads.append(Head("Interval", note if column.unit else "", is_number=False, is_interval=True))
            lows, highs = (table[f"{name}{end}"].to_list() for end in INTERVAL)
            columns.append([Cell(units.interval(*of)) for of in zip(lows, highs, units_, strict=True)])
    return Part(title, heads, list(zip(*columns, strict=True)))


def beside(table: pl.DataFrame, name: str) -> list[dict[str, Any]]:
    """Returns what belongs to each value of a column: {"_low": 1.2, "_high": 1.4}."""
    there = {end: table[f"{name}{end}"].to_list() for end in BESIDE if f"{name}{end}" in table.columns}
    return [{end: values[place] for end, values in there.items()} for place in range(table.height)]


def is_empty(values: pl.Series) -> bool:
    return all(value in (None, "") or (isinstance(value, list) and not value) for value in values.to_list())


def chosen_units(table: pl.DataFrame, names: Sequence[str]) -> dict[str, Unit]:
    """Returns {column: its unit}; columns with the same `with_` share one."""
    groups: dict[str, list[str]] = {}
    for name in names:
        if COLUMNS[name].unit:
            groups.setdefault(COLUMNS[name].with_ or name, []).append(name)
    found: dict[str, Unit] = {}
    for group in groups.values():
        unit_of, item = COLUMNS[group[0]].unit, f"{group[0]}_item"
        assert unit_of is not None
        deciding = [DECIDES] if DECIDES in group else group
        counted = [table[item][0]] if item in table.columns else []
        unit = unit_of([value for name in deciding for value in table[name].to_list()], *counted)
        found |= dict.fromkeys(group, unit)
    return found


def cell(column: Column, value: Any, unit: Unit | None, more: Mapping[str, Any], *, bare: bool) -> Cell:
    """Returns one value in words; `bare` leaves out the unit that its column's head names."""
    if isinstance(value, list):
        return flagged(value) if column.tags == "flag" else nested(value)
    if value is None or value == "":
        return Cell(UNKNOWN if column.is_number else "")
    ends = [more[end] for end in INTERVAL if end in more]
    is_sure = bool(ends) and ends[0] is not None
    if unit:
        return Cell(unit.show(value) if bare else unit(value), raw(value), is_sure=is_sure)
    if column.write:
        return Cell(column.write(value, *ends), raw(value), is_sure=is_sure)
    return Cell(str(value), tag=tag(column.tags, str(value)), note=more.get("_note") or "")


def flagged(values: Sequence[Mapping[str, str]]) -> Cell:
    """Returns flags, each with the share of processes that have it, if not all have."""
    flags = [(each["flag"], each["processes"]) for each in values]
    return Cell(", ".join(f"{flag.replace('_', ' ')} {share}".strip() for flag, share in flags), flags=flags)


def nested(values: Sequence[Any]) -> Cell:
    """Returns a list inside a cell: names in words, or a table to unfold."""
    if values and isinstance(values[0], dict):
        inside = part("", pl.DataFrame(values))
        first = [
            " ".join(in_words(COLUMNS[name], each[name]) for name in each if COLUMNS[name].title) for each in values
        ]
        rest = [f"{len(inside.lines) - MOST} more"] if len(inside.lines) > MOST else []
        return Cell("; ".join([*first[:MOST], *rest]), nested=inside)
    return Cell(", ".join(map(str, values)))


def raw(value: float | None) -> str:
    """Returns a number by which a script sorts; empty if unknown."""
    return f"{value:.9g}" if isinstance(value, float | int) and math.isfinite(value) else ""


def tag(kind: str, word: str) -> str:
    """Returns the class of a tag."""
    if kind == "verdict" and word in VERDICTS:
        return word if word in ("faster", "slower") else "even"
    if kind == "class":
        return "bad" if word in ENDINGS else "warn" if word.startswith("raises") else "plain"
    if kind == "warning":
        return "warn" if word else ""
    if kind in ("verdict", "outcome"):
        return "ok" if word in GOOD else "plain" if word in PLAIN else "bad"
    return kind


def pivoted(title: str, table: pl.DataFrame, across: str, shown: Sequence[str]) -> Part:
    """Returns the first column's values down and those of a column across, each with its own unit."""
    first = next(name for name in table.columns if name != across)
    shown = shown or [name for name in table.columns if name not in (first, across)]
    is_number = COLUMNS[shown[0]].is_number
    columns = table[across].unique(maintain_order=True).to_list()
    heads = [Head(COLUMNS[first].title, "", is_number=False), *(Head(name, "", is_number) for name in columns)]
    lines = []
    for (key,), group in table.group_by(first, maintain_order=True):
        by = {row[across]: row for row in group.iter_rows(named=True)}
        lines.append([Cell(str(key)), *(joined(by.get(name), shown) for name in columns)])
    return Part(title, heads, lines, is_beside=True)


def joined(row: dict[str, Any] | None, shown: Sequence[str]) -> Cell:
    """Returns a cell of the columns `shown`, the numbers with their own units; behind it are those for a click."""
    if row is None:
        return Cell("not asked")
    texts = [text for name in shown if (text := in_words(COLUMNS[name], row[name]))] or ["peak unknown"]
    known = [(COLUMNS[name], value) for name, value in row.items() if name in COLUMNS and value not in (None, "", [])]
    tags = [found for name in shown if (found := tag(COLUMNS[name].tags, row[name] or ""))]
    behind = [(column.title, cell(column, value, None, {}, bare=False)) for column, value in known if column.behind]
    return Cell(texts[0], raw(row[shown[0]]), tags[-1] if tags else "", small=", ".join(texts[1:]), behind=behind)


def in_words(column: Column, value: Any) -> str:
    """Returns one value with the unit that fits it; empty if unknown."""
    if value is None or value == "":
        return ""
    text = column.unit([value])(value) if column.unit else column.write(value) if column.write else str(value)
    return column.words.format(text)


def rows_of(part: Part) -> Iterator[list[str]]:
    """Yields the lines as text: an interval in the cell of its value, as `titles` has one head for both."""
    for line in part.lines:
        texts: list[str] = []
        for cell, head in zip(line, part.heads, strict=True):
            if head.is_interval:
                texts[-1] = f"{texts[-1]} {cell.text}".strip()
            else:
                text = ", ".join(filter(None, (cell.text, cell.small)))
                texts.append(f"{text} ({cell.note})" if cell.note else text)
        yield texts


def titles(heads: Iterable[Head]) -> list[str]:
    """Returns the heads as text, a note in brackets."""
    return [
        f"{head.title.lower()} ({head.note})" if head.note else head.title.lower()
        for head in heads
        if not head.is_interval
    ]
