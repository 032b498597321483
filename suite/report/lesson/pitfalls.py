"""A lesson on pitfalls, with the numbers of a result set: each claim names the cell that it rests on.

What is kept beside the lesson is a summary of the set's probes (`Cells`), so that it can be written again, and checked,
without the set. A claim that the cells contradict isn't written: the text has to be changed by a person.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from statistics import median

from suite import units
from suite.errors import COMMAND, UserError
from suite.report.formats.render import environment
from suite.report.lesson.primer import PUBLISHED, TITLES, Published, Timed, timed_of
from suite.report.sections.behaviour import shown
from suite.results import Results
from suite.results.questions.behaviour import Answer
from suite.stacks.catalog import REAL_STACKS

TEMPLATE = "pitfalls.md.j2"


@dataclass(frozen=True, slots=True)
class Cell:
    """One answer, in short: figures are (unit, middle of the values)."""

    class_: str  # an error's own words stay in the set: they hold paths
    figures: Mapping[str, tuple[str, float]]

    def figure(self, name: str) -> str:
        """`12.3 ms`; a dash where it wasn't measured."""
        return shown(self.figures[name][1], self.figures[name][0]) if name in self.figures else units.UNKNOWN


@dataclass(frozen=True, slots=True)
class Cells:
    """What the lesson is written of: `cells` by (probe, aspect, stack); `titles` of aspects by (probe, aspect)."""

    machine: str
    versions: Mapping[str, str]
    titles: Mapping[tuple[str, str], str]
    cells: Mapping[tuple[str, str, str], Cell]
    timed: tuple[Timed, ...]

    @classmethod
    def of(cls, observed: Results, timed: Results) -> Cells:
        """Of a set of probes and one of the primer's examples. Raises UserError for a set without probes."""
        analysis = observed.analysis()
        if not analysis.behaviour:
            raise UserError(f"{observed.path} has no probes: `{COMMAND} run --preset=behaviour` makes such a set.")
        versions: dict[str, set[str]] = {}
        for row in analysis.rows:
            for name, number in row.mapping("versions").items():
                versions.setdefault(name, set()).add(number)
        places = [(probe.head.text("workload"), aspect) for probe in analysis.behaviour for aspect in probe.aspects]
        return cls(
            machine=observed.described_machine,
            versions={name: " and ".join(sorted(versions[name])) for name in SHOWN if name in versions},
            titles={(probe, aspect.name): aspect.title for probe, aspect in places},
            cells={
                (probe, aspect.name, stack): cell_of(answer)
                for probe, aspect in places
                for stack, answer in sorted(aspect.answers.items())
            },
            timed=timed_of(timed),
        )

    def to_json(self) -> str:
        """The summary as it is kept."""
        return (
            json.dumps(
                {
                    "machine": self.machine,
                    "versions": dict(self.versions),
                    "titles": {" ".join(place): title for place, title in self.titles.items()},
                    "cells": {
                        " ".join(place): [cell.class_, {name: list(each) for name, each in cell.figures.items()}]
                        for place, cell in self.cells.items()
                    },
                    "timed": [each.to_json() for each in self.timed],
                },
                indent=1,
                ensure_ascii=False,
            )
            + "\n"
        )

    @classmethod
    def from_json(cls, text: str) -> Cells:
        """The inverse."""
        told = json.loads(text)
        cells = {
            tuple(place.split(" ")): Cell(class_, {name: tuple(each) for name, each in figures.items()})
            for place, (class_, figures) in told["cells"].items()
        }
        titles = {tuple(place.split(" ")): title for place, title in told["titles"].items()}
        return cls(told["machine"], told["versions"], titles, cells, tuple(map(Timed.from_json, told["timed"])))

    def get(self, probe: str, aspect: str, stack: str) -> Cell:
        """One cell. Raises UserError where there is none."""
        if (probe, aspect, stack) not in self.cells:
            raise UserError(f"The lesson names the cell {probe}, {aspect}, {stack}, which the set doesn't have.")
        return self.cells[probe, aspect, stack]

    def claim(self, probe: str, aspect: str, stack: str, class_: str, figure: str = "") -> str:
        """`jax_jit: reuses, 51.2 µs`, to stand beside a sentence. Raises UserError where it was observed otherwise."""
        cell = self.get(probe, aspect, stack)
        if cell.class_ != class_:
            raise UserError(
                f"The lesson says that {stack} {class_} ({probe}, {aspect}); observed: {cell.class_}. "
                f"Change the text in reports/templates/{TEMPLATE}."
            )
        return f"`{stack}`: {class_}{f', {cell.figure(figure)}' if figure else ''}"

    def stacks(self) -> tuple[str, ...]:
        """All stacks, as the catalogue has them."""
        return REAL_STACKS

    def primer(self) -> list[list[str]]:
        """The primer's examples: of each a line for each time here, then those that were published."""
        lines: list[Timed | Published] = [*self.timed, *PUBLISHED]
        return [each.line() for example in TITLES for each in lines if each.example == example]

    def grid(self, probe: str) -> list[list[str]]:
        """A probe's classes as a table: a line an aspect, a column a stack."""
        aspects = [(name, title) for (of, name), title in self.titles.items() if of == probe]
        return [
            ["", *REAL_STACKS],
            *([title, *(self.get(probe, name, stack).class_ for stack in REAL_STACKS)] for name, title in aspects),
        ]


SHOWN = ("jax", "torch", "torch_xla", "torchax", "tensorflow-cpu", "tensorflow", "numpy")  # of the packages in a row


# Of figures, those that the page tells.
TOLD = (
    "seconds",
    "again_seconds",
    "completed_seconds",
    "first_seconds",
    "per_op",
    "factor",
    "import_bytes",
    "compiles",
)


def cell_of(answer: Answer) -> Cell:
    """An answer in short."""
    return Cell(
        answer.class_, {each.name: (each.unit, median(each.values)) for each in answer.figures if each.name in TOLD}
    )


def lesson(cells: Cells) -> str:
    """The page, as Markdown."""
    return environment().get_template(TEMPLATE).render(cells=cells)


def write(observed: Results, timed: Results, out: Path) -> Path:
    """The lesson at `out`, and its summary beside it. Returns the summary's path."""
    cells = Cells.of(observed, timed)
    text, kept = lesson(cells), out.with_suffix(".json")
    for path, content in ((out, text), (kept, cells.to_json())):
        try:
            path.write_text(content, encoding="utf-8")
        except OSError as broken:
            raise UserError(f"{path} can't be written: {broken.strerror}.") from None
    return kept


def read(path: Path) -> Cells:
    """A summary that is kept. Raises UserError where there is none."""
    try:
        return Cells.from_json(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as broken:
        raise UserError(f"{path} can't be read as a lesson's summary: {broken}.") from None
