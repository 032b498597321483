"""`python -m tools.pitfalls`: the lesson on pitfalls, with the numbers of a result set: each claim names its cell.

A summary of the set's probes (`Observations`) is kept beside the lesson, so that the lesson can be checked and written
again without the set. If a cell contradicts a claim, the lesson isn't written: a person has to change the text.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median

import msgspec

from suite import units
from suite.answers.behaviour import in_words
from suite.cli.app import run_tool
from suite.cli.sets.naming import named
from suite.cli.values import LATEST
from suite.errors import COMMAND, UserError
from suite.guard.out import is_stream, write_out
from suite.page.formats.render import environment
from suite.results import Results, load
from suite.results.questions.behaviour import Observation, observations
from suite.stacks.catalog import STACKS
from tools.primer import TITLES, ExampleTime, Published, example_times, published

TEMPLATE = "pitfalls.md.j2"


class Observed(msgspec.Struct, frozen=True, array_like=True):
    """One cell of a probe's grid, in short; `figures` are {name: (unit, median of the values)}."""

    class_: str  # without the text of an error, which may hold paths of the machine
    figures: dict[str, tuple[str, float]]

    def figure(self, name: str) -> str:
        """Returns a figure in words, `12.3 ms`; a dash if it wasn't measured."""
        return in_words(self.figures[name][1], self.figures[name][0]) if name in self.figures else units.UNKNOWN


class Observations(msgspec.Struct, frozen=True):
    """The data of the lesson, as its file has them: `cells` by `probe aspect stack`, `titles` of aspects by `probe
    aspect`, and `timed`, the times of the primer's examples."""

    machine: str
    versions: dict[str, str]
    titles: dict[str, str]
    cells: dict[str, Observed]
    timed: tuple[ExampleTime, ...]

    @classmethod
    def of(cls, observed: Results, timed: Results) -> Observations:
        """Returns the data from a set of probes and a set of the primer's examples. Raises UserError for a set without
        probes."""
        analysis = observed.analysis()
        cells = observations(analysis.counted)
        if not cells:
            raise UserError(f"{observed.path} has no probes: `{COMMAND} run --preset=behaviour` makes such a set.")
        versions: dict[str, set[str]] = {}
        for row in analysis.rows:
            for name, number in row.mapping("versions").items():
                versions.setdefault(name, set()).add(number)
        return cls(
            machine=observed.described_machine,
            versions={name: " and ".join(sorted(versions[name])) for name in PACKAGES if name in versions},
            titles={f"{cell.row.text('workload')} {cell.aspect}": cell.aspect_title for cell in cells},
            cells={f"{cell.row.text('workload')} {cell.aspect} {cell.stack}": cell_of(cell) for cell in cells},
            timed=example_times(timed),
        )

    def get(self, probe: str, aspect: str, stack: str) -> Observed:
        """Returns one cell. Raises UserError if there is none."""
        if f"{probe} {aspect} {stack}" not in self.cells:
            raise UserError(f"The lesson names the cell {probe}, {aspect}, {stack}, which the set doesn't have.")
        return self.cells[f"{probe} {aspect} {stack}"]

    def claim(self, probe: str, aspect: str, stack: str, class_: str, figure: str = "") -> str:
        """Returns `jax_jit: reuses, 51.2 µs`, which stands behind a sentence of the lesson. Raises UserError if another
        class was observed."""
        cell = self.get(probe, aspect, stack)
        if cell.class_ != class_:
            raise UserError(
                f"The lesson says that {stack} {class_} ({probe}, {aspect}); observed: {cell.class_}. "
                f"Change the text in reports/templates/{TEMPLATE}."
            )
        return f"`{stack}`: {class_}{f', {cell.figure(figure)}' if figure else ''}"

    def stacks(self) -> tuple[str, ...]:
        return tuple(name for name in STACKS if any(cell.endswith(f" {name}") for cell in self.cells))

    def primer(self) -> list[list[str]]:
        """Returns the lines of the primer's examples: for each example the times measured here, then the published
        ones."""
        lines: list[ExampleTime | Published] = [*self.timed, *published()]
        return [line.line() for example in TITLES for line in lines if line.example == example]

    def grid(self, probe: str) -> list[list[str]]:
        """Returns a probe's classes as a table: a line for each aspect, a column for each stack."""
        aspects = [(*place.split(), title) for place, title in self.titles.items()]
        return [
            ["", *self.stacks()],
            *(
                [title, *(self.get(probe, aspect, stack).class_ for stack in self.stacks())]
                for of, aspect, title in aspects
                if of == probe
            ),
        ]


# The packages whose versions the lesson names.
PACKAGES = ("jax", "torch", "torch_xla", "torchax", "torch_tpu", "tensorflow-cpu", "tensorflow", "numpy")

# The figures that the summary keeps for the lesson.
FIGURES = (
    "seconds",
    "again_seconds",
    "completed_seconds",
    "first_seconds",
    "per_op",
    "factor",
    "import_bytes",
    "compiles",
)


def cell_of(observed: Observation) -> Observed:
    """Returns an observation as a cell of the lesson: its class, and the median of each of `FIGURES`."""
    return Observed(
        observed.class_,
        {name: (unit, median(values)) for name, (unit, values) in observed.figures.items() if name in FIGURES},
    )


def lesson(cells: Observations) -> str:
    return environment().get_template(TEMPLATE).render(cells=cells)


def pitfalls(*, set: str = LATEST, times: str = "", out: str = "pitfalls.md") -> None:
    """Writes the lesson on what surprises users of the frameworks, and a summary of its data beside it (.json).

    :param set: a result set of probes, from `./stackwars run --preset=behaviour`
    :param times: a result set of the primer's examples, from `./stackwars run --preset=primer`
    :param out: the file to write; into a device, a pipe or `-`, which is standard output, only the lesson
    """
    if not times:
        raise UserError("--times is needed: the folder of a set of `./stackwars run --preset=primer`.")
    cells, path = Observations.of(load(named(set)), load(named(times))), Path(out)
    write_out(out, lesson(cells))
    if not is_stream(out):
        write_out(path.with_suffix(".json"), written(cells))
        print(path.with_suffix(".json"))


def written(cells: Observations) -> str:
    return msgspec.json.format(msgspec.json.encode(cells), indent=1).decode() + "\n"


def read(path: Path) -> Observations:
    """Returns the summary in a file. Raises UserError if the file has none."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Observations)
    except (OSError, msgspec.DecodeError) as broken:
        raise UserError(f"{path} can't be read as a lesson's summary: {broken}.") from None


if __name__ == "__main__":
    run_tool("tools.pitfalls", pitfalls)
