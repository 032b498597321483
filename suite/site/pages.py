"""Renders the pages of a site except those of its sets: the index, a history for each question, and a page for each
machine."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from suite.report.formats.render import FILE_NAME, filled
from suite.report.map.page_map import NOTHING, Map, MapRow
from suite.results.names import slug
from suite.results.ranking import catalogue_order
from suite.site import history_page
from suite.site.entry import Entry, QuestionEntry
from suite.site.history import Point, marked
from suite.site.sources import Refused

SLUG_MAX = 60  # characters of a name in a file's name
CHANGES_MAX = 50  # changes that the index lists; the histories show all


@dataclass(frozen=True, slots=True)
class MachineQuestion:
    """A question on one machine, over all sets that have it. `sets` is the number of these sets, `newest` the newest of
    them, and `latest` the question in that one."""

    name: str
    workload: str
    machine_id: str
    machine: str
    stacks: tuple[str, ...]
    sets: int
    latest: QuestionEntry
    newest: Entry


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine, with the sets that it measured (newest first) and its questions."""

    id: str
    name: str
    sets: tuple[Entry, ...]
    questions: tuple[MachineQuestion, ...]

    @property
    def described(self) -> str:
        return self.sets[0].described

    @property
    def map(self) -> Map | None:
        return newest_map(self.questions)


def newest_map(asked: Sequence[MachineQuestion], *, with_machine: bool = False) -> Map | None:
    """Returns a map of the newest answer to each question: questions down, stacks across. None without a question."""
    if not asked:
        return None
    columns = sorted({stack for question in asked for stack in question.latest.squares}, key=catalogue_order)

    def note(question: MachineQuestion) -> str:
        where = f", {question.machine}" if with_machine else ""
        return f"over {question.latest.baseline}, {question.newest.created_at[:10]}{where}"

    return Map(
        caption="A steady step in the newest set that asks the question, over its baseline: above 1× is faster.",
        columns=tuple(columns),
        means=(),  # a mean would mix questions of several sets
        rows=tuple(
            MapRow(
                name=question.name,
                anchor=row_id(question),
                squares=tuple(question.latest.squares.get(stack, NOTHING) for stack in columns),
                note=note(question),
            )
            for question in asked
        ),
    )


def index(shown: Sequence[Entry], refused: Sequence[Refused]) -> str:
    machines_ = machines_of(shown)
    asked = [question for machine in machines_ for question in machine.questions]
    changes = [point for point in points_of(shown) if point.ratio is not None]
    return page(
        "site/index.html.j2",
        sets=newest_first(shown),
        refused=refused,
        machines=machines_,
        questions=asked,
        map=newest_map(asked, with_machine=len(machines_) > 1),
        workloads=sorted({workload for entry in shown for workload in entry.workloads}),
        stacks=sorted({stack for entry in shown for stack in entry.stacks}),
        changes=sorted(changes, key=lambda point: (point.created_at, point.question, point.stack), reverse=True),
        changes_max=CHANGES_MAX,
        timed=timed(shown),
        workload_of={question.name: question.workload for entry in shown for question in entry.questions},
    )


def histories(shown: Sequence[Entry]) -> dict[str, str]:
    """Returns {file name: HTML} of a history for each question that has a time."""
    by_question: dict[str, list[Point]] = defaultdict(list)
    for point in points_of(shown):
        by_question[point.question].append(point)
    links = {entry.name: f"../{set_page(entry)}" for entry in shown}
    return {
        history_file(question): history_page.page(question, history_page.panels_of(points), links, "../index.html")
        for question, points in by_question.items()
    }


def machines(shown: Sequence[Entry]) -> dict[str, str]:
    return {
        machine_file(machine.name, machine.id): page("site/machine.html.j2", machine=machine, timed=timed(shown))
        for machine in machines_of(shown)
    }


def page(template: str, **values: object) -> str:
    """Returns the HTML of a page of the site, with the script of the search."""
    return filled(
        template,
        styles=("style.css", "map.css", "lines.css", "site.css"),
        scripts=("script.js", "site.js"),
        change_text=history_page.change_text,
        set_page=set_page,
        history_file=history_file,
        machine_file=machine_file,
        row_id=row_id,
        **values,
    )


def points_of(shown: Iterable[Entry]) -> list[Point]:
    """Returns the points of all sets, with changes marked. If a run was published twice, the set with more `ok`
    outcomes counts."""
    once = {entry.set_id: entry for entry in sorted(shown, key=lambda entry: (entry.outcomes.get("ok", 0), entry.name))}
    return marked(point for entry in once.values() for point in entry.points)


def timed(shown: Iterable[Entry]) -> frozenset[str]:
    return frozenset(point.question for entry in shown for point in entry.points)


def machines_of(shown: Sequence[Entry]) -> list[Machine]:
    """Returns all machines. The machine that measured the newest set comes first."""
    sets: dict[str, list[Entry]] = defaultdict(list)
    for entry in newest_first(shown):
        for id_ in entry.machines:
            sets[id_].append(entry)
    return [
        Machine(id_, entries[0].machine, tuple(entries), machine_questions(id_, entries))
        for id_, entries in sets.items()
    ]


def machine_questions(machine_id: str, entries: Sequence[Entry]) -> tuple[MachineQuestion, ...]:
    """Returns the questions of a machine in the order of their names. `entries` are its sets, newest first."""
    of_question: dict[str, list[tuple[Entry, QuestionEntry]]] = defaultdict(list)
    for entry in entries:
        for question in entry.questions:
            if question.machine_id == machine_id:
                of_question[question.name].append((entry, question))
    return tuple(
        MachineQuestion(
            name=name,
            workload=pairs[0][1].workload,
            machine_id=machine_id,
            machine=pairs[0][0].machine,
            stacks=tuple(sorted({stack for _, question in pairs for stack in question.squares})),
            sets=len(pairs),
            latest=pairs[0][1],
            newest=pairs[0][0],
        )
        for name, pairs in sorted(of_question.items())
    )


def newest_first(shown: Iterable[Entry]) -> list[Entry]:
    return sorted(shown, key=lambda entry: (entry.created_at, entry.name), reverse=True)


def row_id(question: MachineQuestion) -> str:
    return f"q-{short_digest(f'{question.name} {question.machine_id}')}"


def set_page(entry: Entry) -> str:
    return f"sets/{entry.name}/{FILE_NAME}"


def history_file(question: str) -> str:
    return f"{file_slug(question)}-{short_digest(question)}.html"


def machine_file(name: str, id_: str) -> str:
    return f"{file_slug(name)}-{short_digest(id_)}.html"


def file_slug(name: str) -> str:
    """Returns a name for use in a file name."""
    return slug(name)[:SLUG_MAX].strip("-") or "unnamed"


def short_digest(text: str) -> str:
    """Returns the beginning of a text's sha256. It tells apart two names that have the same slug."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]
