"""The sentences that people see, from the product's own outputs: a set's report, over each baseline that it offers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

from suite import results
from suite.answers.comparisons import apart
from suite.answers.comparisons import compared as in_words
from suite.answers.summary import summary
from suite.page.map.controls import Cell, Data
from suite.page.report import Report, report
from suite.page.sections.section import AnswerSection
from suite.results.frame import Frame
from tests.sentences.check import Spoken
from tests.sentences.facts.machine import OTHERS_SHARE
from tests.sentences.facts.reader import ARCHIVE, Truth, archived
from tests.sentences.spoken.generated import SEARCHES, STORIES, TOLD, write, write_sizes
from tests.sentences.spoken.pages import compared, published

KINDS = ("summary", "comparisons", "latency", "break_even", "compiled", "unified", "transfers", "ways", "peaks",
         "holders", "endings", "equivalence", "noise", "blocks", "frontier", "memory")  # fmt: skip
ALSO = ("summary", "break_even")  # answers whose further sentences have figures


def sentences(truth: Truth) -> Iterator[Spoken]:
    """Yields every sentence of a set's page with its kind."""
    of = report(results.load(truth.folder))
    yield from (("headline", answer.text, truth) for answer in of.headlines)
    yield "frameworks", of.frameworks, truth
    if of.overview:
        yield "map", of.overview.sentence, truth
        yield from chosen(of, truth)
        for baseline in of.overview.baselines:
            yield from over(of, baseline, truth.seen(baseline))
    for section in of.sections:
        if section.name in KINDS and isinstance(section, AnswerSection):
            yield from ((section.name, said, truth) for said in answered(section))
    yield "badge", ": ".join(filter(None, (str(of.trust), of.account.causes))), truth
    yield "notices", "\n".join(of.notices), truth
    if of.cause:
        yield "cause", of.cause.first, truth


def answered(section: AnswerSection) -> Iterator[str]:
    found = section.found
    yield from (f"{on}: {said}" for on, said in found.by_question.items())
    if not found.by_question:
        yield section.answer
    if section.name in ALSO:
        yield from found.also
    if section.name == "noise":  # the table, too, says what is withdrawn
        read = [line for line in found.table.to_dicts() if line["reading"] == OTHERS_SHARE]
        yield from (f"{line['reading']}: {line['found']}; {line['within']}" for line in read)


def chosen(of: Report, truth: Truth) -> Iterator[Spoken]:
    """Yields the data from which the page's script makes the map, its frames and its sentence by each clock and over
    each baseline."""
    assert of.overview
    data, names = of.overview.data, [row.name for row in of.overview.shown.rows]
    for metric in of.overview.metrics:
        if metric.clock:
            by, told = truth.seen(clock=metric.clock), data["metrics"][metric.name]
            for on, slower in zip(names, (told["behind"] or {}).values(), strict=False):
                yield "behind", f"{on}: {', '.join(f'{one} < {two}' for one, two in slower)}", by
            for baseline, shown in told["maps"].items():
                seen = by.seen(baseline, metric.clock)
                yield "means", "\n".join(map(mean, shown["means"]["|"])), seen
                for on, cells in zip(names, shown["cells"].values(), strict=True):
                    yield "row", f"{on}: {'; '.join(cell_words(who, cell) for who, cell in cells.items())}", seen


def mean(row: Data) -> str:
    told = (f"{who}: {cell['words']} {cell['small']}".rstrip() for who, cell in row["cells"].items())
    return f"{row['over']} | {'; '.join(told)}"


def cell_words(who: str, cell: Cell) -> str:
    """Returns `jax_jit faster leads 8.34× [6.51, 10.7]`, or `torch_eager baseline`."""
    kind, *others = cell["css"].split()
    ratio = "" if kind == "baseline" else f"{cell['words']} {cell['small']}".removeprefix("undecided ")
    return " ".join([who, kind, *["leads"] * ("leads" in others), ratio]).rstrip()


def over(of: Report, baseline: str, truth: Truth) -> Iterator[Spoken]:
    """Yields what the page says in words over one baseline: headlines, the summary, what stands beside a verdict."""
    assert of.overview
    frame = Frame(of.results, of.overview.analyses[baseline])
    if baseline != of.overview.baseline:
        yield from (("headline", answer.text, truth) for answer in of.overview.headlines[baseline])
        if found := summary(frame):
            yield from (("summary", said, truth) for said in (found.sentence, *found.also))
    for line in in_words(frame).to_dicts():
        if line["counts"] and line["stack"] != line["baseline"] and line["speedup"]:
            assert apart(line) in line["judged_note"]
            yield (
                "aside",
                f"{line['question']} | {line['stack']} over {line['baseline']}: {apart(line)}".rstrip(),
                truth,
            )


SETS = sorted(ARCHIVE.iterdir())


@cache
def of_set(folder: Path) -> list[Spoken]:
    return [*sentences(archived(folder.name))]


def of_stories(folder: Path) -> Iterator[Spoken]:
    """Writes the fixed sets into a folder; yields what the product says of them, and what the rule on leads says."""
    for name, story in STORIES.items():
        truth = Truth(write(story, folder / name))
        yield from sentences(truth)
        yield from (("map", sentence, truth) for sentence in TOLD.get(name, ()))
    for name, (sizes, limit) in SEARCHES.items():
        yield from sentences(Truth(write_sizes(sizes, limit, folder / name)))


def everything(folder: Path) -> list[Spoken]:
    return [*of_stories(folder), *(spoken for each in SETS for spoken in of_set(each)), *published(), *compared()]
