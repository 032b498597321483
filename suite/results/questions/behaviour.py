"""How stacks behave, as probes observed it: a class for each aspect and stack, with its figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from suite.case import Outcome, Purpose
from suite.results.questions.grouping import by_question
from suite.sets.rows import Row

KIND = "behaviour"  # the kind of the metrics that are a probe's figures


@dataclass(frozen=True, slots=True)
class StatedClass:
    """The class of an aspect according to a page of the framework's documentation or of the primer."""

    class_: str
    page: str

    @classmethod
    def of(cls, entry: Mapping[str, str] | None) -> StatedClass | None:
        """Returns the stated class in an entry of a row; None if no page states one."""
        return cls(entry["class"], entry["page"]) if entry else None


@dataclass(frozen=True, slots=True)
class Figure:
    """Some measured values of an aspect, in one unit."""

    name: str
    unit: str
    values: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class ProbeAnswer:
    """What a probe observed of one aspect on one stack: the class and the evidence for it. `words` are the framework's,
    `code` the lines that ran. A stack without an answer has its outcome as the class, and the reason as `words`."""

    class_: str
    words: str
    code: str
    figures: tuple[Figure, ...]
    documented: StatedClass | None
    primer: StatedClass | None

    def figure(self, name: str) -> tuple[float, ...]:
        """Returns the values of a figure; an empty tuple where it wasn't measured."""
        return next((figure.values for figure in self.figures if figure.name == name), ())

    @property
    def is_otherwise(self) -> bool:
        """Whether the framework documents another class than was observed."""
        return self.documented is not None and self.documented.class_ != self.class_

    @property
    def differs_from_primer(self) -> bool:
        """Whether the primer says another class than was observed."""
        return self.primer is not None and self.primer.class_ != self.class_


@dataclass(frozen=True, slots=True)
class Aspect:
    """One line of a probe's grid: what was tried, and {stack: its answer}."""

    name: str
    title: str
    answers: Mapping[str, ProbeAnswer]


@dataclass(frozen=True, slots=True)
class Behaviour:
    """One probe, with its aspects in the order in which they were tried; `head` is one of its rows. `without` is
    {stack: (outcome, reason)} of the stacks that didn't end `ok`: some of their answers are missing."""

    id: str
    name: str
    title: str
    head: Row
    stacks: tuple[str, ...]
    aspects: tuple[Aspect, ...]
    without: Mapping[str, tuple[str, str]]


def behaviours(rows: Iterable[Row]) -> tuple[Behaviour, ...]:
    """Returns every probe of the set, sorted by name. `rows` has one row for each planned process."""
    return by_question(rows, Purpose.PROBE, behaviour)


def behaviour(id_: str, name: str, rows: Sequence[Row]) -> Behaviour:
    """Returns one probe, from one row a stack. A stack without an answer to an aspect has its outcome in that cell."""
    title, titles = name, dict[str, str]()
    by_aspect: dict[str, dict[str, ProbeAnswer]] = {}
    for row in sorted(rows, key=lambda row: -len(row.entries("behaviour"))):
        figures = figures_of(row)
        for entry in row.entries("behaviour"):
            title = entry["probe"]
            titles.setdefault(entry["aspect"], entry["title"])
            by_stack = by_aspect.setdefault(entry["aspect"], {})
            by_stack[row.stack_name] = answer(entry, figures.get(entry["aspect"], ()))
    ended = {row.stack_name: ProbeAnswer(row.outcome, row.text("reason"), "", (), None, None) for row in rows}
    aspects = tuple(Aspect(aspect, title, ended | by_aspect[aspect]) for aspect, title in titles.items())
    without = {row.stack_name: (row.outcome, row.text("reason")) for row in rows if row.outcome != Outcome.OK}
    return Behaviour(id_, name, title, rows[0], tuple(sorted(ended)), aspects, without)


def answer(entry: Mapping[str, Any], figures: Sequence[Figure]) -> ProbeAnswer:
    """Returns the answer in one entry of a row, with the figures of its aspect."""
    return ProbeAnswer(
        entry["class"],
        entry["words"],
        entry["code"],
        tuple(figures),
        StatedClass.of(entry["documented"]),
        StatedClass.of(entry["primer"]),
    )


def figures_of(row: Row) -> dict[str, list[Figure]]:
    """Returns {aspect: its figures}. A metric's name is the aspect's name, a space, and the figure's name."""
    figures: dict[str, list[Figure]] = {}
    for metric in row["metrics"] or ():
        if metric["kind"] == KIND:
            aspect, _, name = metric["name"].partition(" ")
            figures.setdefault(aspect, []).append(Figure(name, metric["unit"], tuple(metric["values"])))
    return figures


CellKey = tuple[str, str, str]  # (probe, aspect, stack)


@dataclass(frozen=True, slots=True)
class ChangedClass:
    """A cell of the grid whose class differs between two sets, or between two versions in one set."""

    probe: str
    aspect: str
    stack: str
    before: str
    after: str


@dataclass(frozen=True, slots=True)
class ClassComparison:
    """The number of cells that two sets, or two versions in one set, have in common, and those whose class differs."""

    common: int
    moved: tuple[ChangedClass, ...]


def between(before: Mapping[CellKey, str], after: Mapping[CellKey, str]) -> ClassComparison:
    """Compares the classes of the cells that two sets, or two versions, have in common."""
    both = [key for key in after if key in before]
    return ClassComparison(
        len(both), tuple(ChangedClass(*key, before[key], after[key]) for key in both if before[key] != after[key])
    )


def classes(probes: Iterable[Behaviour]) -> dict[CellKey, str]:
    """Returns {(probe, aspect, stack): class}. A probe is named like its cases, with the size: other shapes are other
    questions."""
    return {
        (probe.head.comparison_name, aspect.name, stack): answer.class_
        for probe in probes
        for aspect in probe.aspects
        for stack, answer in aspect.answers.items()
    }


def by_variant(cells: Mapping[CellKey, str]) -> dict[str, ClassComparison]:
    """Compares, inside one set, each variant's cells with those of the same stacks without a variant."""
    plain = {key: class_ for key, class_ in cells.items() if "@" not in key[2]}
    variants = sorted({stack.partition("@")[2] for _, _, stack in cells} - {""})
    by_name = {
        name: {
            (probe, aspect, stack.partition("@")[0]): class_
            for (probe, aspect, stack), class_ in cells.items()
            if stack.endswith(f"@{name}")
        }
        for name in variants
    }
    return {name: between(plain, variant) for name, variant in by_name.items()}
