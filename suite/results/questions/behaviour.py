"""How stacks behave, as probes have observed it: of each aspect and stack a class, with its figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suite.case import Outcome, Purpose
from suite.results.questions.names import question_names
from suite.results.store.rows import Row

KIND = "behaviour"  # of the metrics that are a probe's figures


@dataclass(frozen=True, slots=True)
class Belief:
    """What somebody says of an aspect: its class, and the page that says so."""

    class_: str
    page: str

    @classmethod
    def of(cls, told: Mapping[str, str] | None) -> Belief | None:
        """As the row has it; None where nobody says anything."""
        return cls(told["class"], told["page"]) if told else None


@dataclass(frozen=True, slots=True)
class Figure:
    """Some measured values of an aspect, in one unit."""

    name: str
    unit: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Answer:
    """One cell: the class that was observed and all that stands behind it. `words` are the framework's own."""

    class_: str
    words: str
    code: str
    figures: tuple[Figure, ...]
    documented: Belief | None
    primer: Belief | None

    def figure(self, name: str) -> tuple[float, ...]:
        """The values of a figure; none where it wasn't measured."""
        return next((each.values for each in self.figures if each.name == name), ())

    @property
    def is_otherwise(self) -> bool:
        """Whether it isn't what the framework documents."""
        return self.documented is not None and self.documented.class_ != self.class_

    @property
    def differs_from_primer(self) -> bool:
        """Whether it isn't what the primer says."""
        return self.primer is not None and self.primer.class_ != self.class_


@dataclass(frozen=True, slots=True)
class Aspect:
    """One line of a probe's grid: what was tried, and the answer of each stack."""

    name: str
    title: str
    answers: Mapping[str, Answer]


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One probe: its title, its aspects in the order in which they were tried; `head` is one of its rows. `without` has
    the stacks that gave no answer or not all of them, with the outcome and the reason."""

    id: str
    name: str
    title: str
    head: Row
    stacks: tuple[str, ...]
    aspects: tuple[Aspect, ...]
    without: Mapping[str, tuple[str, str]]


def behaviours(rows: Iterable[Row]) -> tuple[Behaviour, ...]:
    """Every probe that was asked, by name. `rows`: one for each planned process."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        if row["purpose"] == Purpose.PROBE:
            groups.setdefault(row["comparison_id"], []).append(row)
    names = question_names([group[0] for group in groups.values()])
    found = [behaviour(key, names[key], group) for key, group in groups.items()]
    return tuple(sorted(found, key=lambda each: each.name))


def behaviour(key: str, name: str, rows: Sequence[Row]) -> Behaviour:
    """One probe, from one row a stack. A stack that gave no answer to an aspect has its outcome there."""
    title, titles = name, dict[str, str]()
    told: dict[str, dict[str, Answer]] = {}
    for row in sorted(rows, key=lambda row: -len(row.entries("behaviour"))):
        figures = figures_of(row)
        for entry in row.entries("behaviour"):
            title = entry["probe"]
            titles.setdefault(entry["aspect"], entry["title"])
            told.setdefault(entry["aspect"], {})[row.stack_name] = answer(entry, figures.get(entry["aspect"], ()))
    ended = {row.stack_name: Answer(row.outcome, row.text("reason"), "", (), None, None) for row in rows}
    aspects = tuple(Aspect(aspect, title, ended | told[aspect]) for aspect, title in titles.items())
    without = {row.stack_name: (row.outcome, row.text("reason")) for row in rows if row.outcome != Outcome.OK}
    return Behaviour(key, name, title, rows[0], tuple(sorted(ended)), aspects, without)


def answer(entry: Mapping[str, Any], figures: Sequence[Figure]) -> Answer:
    """One entry of a row, with the figures of its aspect."""
    return Answer(
        entry["class"],
        entry["words"],
        entry["code"],
        tuple(figures),
        Belief.of(entry["documented"]),
        Belief.of(entry["primer"]),
    )


def figures_of(row: Row) -> dict[str, list[Figure]]:
    """By aspect. A metric's name is the aspect's, a space, and the figure's."""
    found: dict[str, list[Figure]] = {}
    for metric in row["metrics"] or ():
        if metric["kind"] == KIND:
            aspect, _, name = metric["name"].partition(" ")
            found.setdefault(aspect, []).append(Figure(name, metric["unit"], tuple(metric["values"])))
    return found


Place = tuple[str, str, str]  # of a cell: probe, aspect, stack


@dataclass(frozen=True, slots=True)
class Moved:
    """A cell whose class isn't the other set's, or the other version's."""

    probe: str
    aspect: str
    stack: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class Observed:
    """The cells that two sets, or two versions in one, have in common, and those of other classes."""

    common: int
    moved: tuple[Moved, ...]


def between(before: Mapping[Place, str], after: Mapping[Place, str]) -> Observed:
    """Classes held against others."""
    both = [place for place in after if place in before]
    return Observed(
        len(both), tuple(Moved(*place, before[place], after[place]) for place in both if before[place] != after[place])
    )


def classes(found: Iterable[Behaviour]) -> dict[Place, str]:
    """The class of every cell. A probe is called as its cases are, sizes and all: other shapes are other questions."""
    return {
        (each.head.comparison_name, aspect.name, stack): answer.class_
        for each in found
        for aspect in each.aspects
        for stack, answer in aspect.answers.items()
    }


def by_variant(cells: Mapping[Place, str]) -> dict[str, Observed]:
    """Of one set: each variant's cells against those of the stack as it is locked."""
    plain = {place: class_ for place, class_ in cells.items() if "@" not in place[2]}
    variants = sorted({stack.partition("@")[2] for _, _, stack in cells} - {""})
    found = {
        name: {
            (probe, aspect, stack.partition("@")[0]): class_
            for (probe, aspect, stack), class_ in cells.items()
            if stack.endswith(f"@{name}")
        }
        for name in variants
    }
    return {name: between(plain, own) for name, own in found.items()}
