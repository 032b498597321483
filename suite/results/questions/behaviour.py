"""How stacks behave, as probes observed it: a class for each aspect and stack, with its figures."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any

from suite.case import Purpose
from suite.order import natural
from suite.sets.rows import Row
from suite.verdicts.grouping import by_question

KIND = "behaviour"  # the kind of the metrics that are a probe's figures

Figure = tuple[str, tuple[float, ...]]  # (unit, values)


Stated = Mapping[str, str]  # the `class` of an aspect according to a `page`; empty if none states one


@dataclass(frozen=True, slots=True)
class Observation:
    """What a probe observed of one aspect on one stack, with the evidence: `words` are the framework's, `code` the
    lines that ran. A stack without an answer has its outcome as the class, and the reason as `words`."""

    row: Row
    probe: str
    probe_title: str
    aspect: str
    aspect_title: str
    class_: str
    words: str
    code: str = ""
    figures: Mapping[str, Figure] = field(default_factory=dict)
    documented: Stated = field(default_factory=dict)
    primer: Stated = field(default_factory=dict)

    @property
    def stack(self) -> str:
        return self.row.stack_name

    @property
    def is_otherwise(self) -> bool:
        """Whether the framework documents another class than was observed."""
        return self.differs(self.documented)

    def differs(self, stated: Stated) -> bool:
        return stated.get("class", self.class_) != self.class_


def observations(rows: Iterable[Row]) -> tuple[Observation, ...]:
    """Every cell of every probe: probes by name, aspects as they were tried, stacks by name. `rows` has one row for
    each planned process."""
    return tuple(chain.from_iterable(by_question(rows, Purpose.PROBE, of_probe)))


def of_probe(_: str, name: str, rows: Sequence[Row]) -> list[Observation]:
    title, titles = name, dict[str, str]()
    answers: dict[tuple[str, str], Mapping[str, Any]] = {}
    for row in sorted(rows, key=lambda row: -len(row.entries("behaviour"))):  # the fullest decides the order
        for entry in row.entries("behaviour"):
            title = entry["probe"]
            titles.setdefault(entry["aspect"], entry["title"])
            answers[entry["aspect"], row.stack_name] = entry
    return [
        observation(row, name, title, aspect, titles[aspect], answers.get((aspect, row.stack_name)))
        for aspect in titles
        for row in sorted(rows, key=lambda row: natural(row.stack_name))
    ]


def observation(
    row: Row, probe: str, title: str, aspect: str, aspect_title: str, entry: Mapping[str, Any] | None
) -> Observation:
    if entry is None:
        return Observation(row, probe, title, aspect, aspect_title, row.outcome, row.text("reason"))
    told = (entry["class"], entry["words"], entry["code"], figures_of(row, aspect))
    return Observation(row, probe, title, aspect, aspect_title, *told, entry["documented"] or {}, entry["primer"] or {})


def figures_of(row: Row, aspect: str) -> dict[str, Figure]:
    """A metric's name is the aspect's name, a space, and the figure's name."""
    named = ((metric["name"].partition(" "), metric) for metric in row.metrics if metric["kind"] == KIND)
    return {name: (metric["unit"], tuple(metric["values"])) for (of, _, name), metric in named if of == aspect}


CellKey = tuple[str, str, str]  # (probe, aspect, stack)


@dataclass(frozen=True, slots=True)
class ChangedClass:
    """A cell whose class differs between two sets, or between two versions in one set."""

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
    both = [key for key in after if key in before]
    return ClassComparison(
        len(both), tuple(ChangedClass(*key, before[key], after[key]) for key in both if before[key] != after[key])
    )


def classes(observed: Iterable[Observation]) -> dict[CellKey, str]:
    """Returns {(probe, aspect, stack): class}. A probe is named like its cases, with the size: other shapes are other
    questions."""
    return {(each.row.comparison_name, each.aspect, each.stack): each.class_ for each in observed}


def by_variant(cells: Mapping[CellKey, str]) -> dict[str, ClassComparison]:
    """Compares, inside one set, each variant's cells with those of the same stacks without a variant."""
    of_variant: dict[str, dict[CellKey, str]] = {}
    for (probe, aspect, stack), class_ in cells.items():
        plain, _, variant = stack.partition("@")
        of_variant.setdefault(variant, {})[probe, aspect, plain] = class_
    locked = of_variant.pop("", {})
    return {variant: between(locked, of_variant[variant]) for variant in sorted(of_variant, key=natural)}
