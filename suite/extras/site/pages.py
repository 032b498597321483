"""Renders the pages of a site except those of its sets: the index, a history for each question, and a page for each
machine."""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from suite.extras.site import history_page
from suite.extras.site.entry import Entry, QuestionEntry
from suite.extras.site.history import Point, marked
from suite.order import natural
from suite.page.formats.render import FILE_NAME, filled
from suite.page.map.cells import NOTHING
from suite.page.map.frameworks import of_many
from suite.page.map.page_map import Map, MapRow
from suite.results.ranking import catalogue_order
from suite.verdicts.names import slug

SLUG_MAX = 60  # characters of a name in a file's name
CHANGES_MAX = 50  # changes that the index lists; the histories show all
Asked = list[QuestionEntry]  # a question on one machine, as each set that asks it has it, the newest first


@dataclass(frozen=True, slots=True)
class Machine:
    """A machine, with the sets that it measured (newest first) and its questions in the order of their names."""

    id: str
    sets: Sequence[Entry]
    questions: Sequence[Asked]

    @property
    def name(self) -> str:
        return self.sets[0].machine

    @property
    def map(self) -> Map | None:
        return newest_map(self.questions)

    @property
    def sentence(self) -> str:
        """What its newest sets say of the framework that is judged on the most questions; empty where none is."""
        found = [pair for newest, *_ in self.questions for pair in newest.pairs]
        judged = Counter(pair.names[0] for pair in sorted(found, key=lambda it: catalogue_order(it.ours.stack)))
        most = judged.most_common(1)[0][0] if judged else ""
        asked = [(newest.track, [it for it in newest.pairs if it.names[0] == most]) for newest, *_ in self.questions]
        return of_many(asked)


def newest_map(questions: Sequence[Asked], *, with_machine: bool = False) -> Map | None:
    """Returns a map of the newest answer to each question: questions down, stacks across, variants of stacks folded.
    None without a question. It has no means, which would mix questions of several sets."""
    if not questions:
        return None
    stacks = {stack for newest, *_ in questions for stack in newest.stacks if "@" not in stack}
    columns = tuple(sorted(stacks, key=catalogue_order))
    rows = []
    for newest, *_ in questions:
        where = f", {newest.machine}" if with_machine else ""
        note = f"over {newest.baseline}, {newest.created_at[:10]}{where}"
        squares = tuple(newest.squares.get(stack, NOTHING) for stack in columns)
        folded = tuple((stack, cell) for stack, cell in newest.squares.items() if stack not in stacks)
        rows.append(MapRow(newest.title, row_id(newest), squares, {}, note, newest.details, folded))
    caption = "A steady step in the newest set that asks the question, over its baseline: above 1× is faster."
    return Map(caption, columns, tuple(rows))


def index(shown: Sequence[Entry], refused: Sequence[tuple[str, str]]) -> str:
    machines = machines_of(shown)
    questions = [asked for machine in machines for asked in machine.questions]
    changes = [point for point in points_of(shown) if point.ratio is not None]
    return page(
        "site/index.html.j2",
        sets=newest_first(shown),
        refused=refused,
        machines=machines,
        questions=questions,
        map=newest_map(questions, with_machine=len(machines) > 1),
        workloads=sorted({workload for entry in shown for workload in entry.workloads}),
        stacks=sorted({stack for entry in shown for stack in entry.stacks}, key=natural),
        changes=sorted(changes, key=lambda point: (point.created_at, point.question, point.stack), reverse=True),
        changes_max=CHANGES_MAX,
        timed=timed(shown),
        workload_of={newest.name: newest.workload for newest, *_ in questions},
    )


def histories(shown: Sequence[Entry]) -> dict[str, str]:
    """Returns {file name: HTML} of a history for each question that has a time."""
    by_question: dict[str, list[Point]] = defaultdict(list)
    for point in points_of(shown):
        by_question[point.question].append(point)
    links = {entry.name: f"../{set_page(entry.name)}" for entry in shown}
    titles = {it.name: (it.title, it.details) for entry in reversed(newest_first(shown)) for it in entry.questions}
    return {
        history_file(name): history_page.page(*titles.get(name, (name, "")), points, links, "../index.html")
        for name, points in by_question.items()
    }


def machines(shown: Sequence[Entry]) -> dict[str, str]:
    return {
        machine_file(machine.name, machine.id): page("site/machine.html.j2", machine=machine, timed=timed(shown))
        for machine in machines_of(shown)
    }


def page(template: str, **values: object) -> str:
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
    """Returns all machines: those first whose sets compare frameworks, of them the one that measured the newest set."""
    sets: dict[str, list[Entry]] = defaultdict(list)
    questions: dict[str, dict[str, Asked]] = defaultdict(lambda: defaultdict(list))
    for entry in newest_first(shown):
        for id_ in entry.machines:
            sets[id_].append(entry)
        for question in entry.questions:
            questions[question.machine_id][question.name].append(question)
    found = [
        Machine(id_, entries, [questions[id_][name] for name in sorted(questions[id_], key=natural)])
        for id_, entries in sets.items()
    ]
    return sorted(found, key=lambda machine: not machine.sentence)


def newest_first(shown: Iterable[Entry]) -> list[Entry]:
    return sorted(shown, key=lambda entry: (entry.created_at, entry.name), reverse=True)


def row_id(question: QuestionEntry) -> str:
    return f"q-{short_digest(f'{question.name} {question.machine_id}')}"


def set_page(name: str) -> str:
    return f"sets/{name}/{FILE_NAME}"


def history_file(question: str) -> str:
    return f"{file_slug(question)}-{short_digest(question)}.html"


def machine_file(name: str, id_: str) -> str:
    return f"{file_slug(name)}-{short_digest(id_)}.html"


def file_slug(name: str) -> str:
    return slug(name)[:SLUG_MAX].strip("-") or "unnamed"


def short_digest(text: str) -> str:
    """Returns the beginning of a text's sha256. It tells apart two names that have the same slug."""
    return hashlib.sha256(text.encode()).hexdigest()[:8]
