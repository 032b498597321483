"""The sentences that people see, from the product's own outputs: a set's report, and the published pages."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from suite import results
from suite.page.map.metrics import STEADY
from suite.page.report import Report, report
from suite.page.sections.section import AnswerSection

Said = tuple[str, str]  # kind, sentence
KINDS = ("summary", "comparisons", "latency", "break_even", "compiled", "unified", "transfers", "ways", "peaks",
         "holders", "endings", "equivalence", "noise", "blocks", "frontier", "memory")  # fmt: skip
ALSO = ("summary", "break_even")  # answers whose further sentences have figures


def report_of(folder: Path) -> Report:
    return report(results.load(folder))


def sentences(of: Report) -> Iterator[Said]:
    """Yields every sentence of a set's page by its kind."""
    for answer in of.headlines:
        yield "headline", answer.text
    if of.overview:
        yield "map", of.overview.sentence
        yield from frames(of)
        yield from pairs(of)
    for section in of.sections:
        if section.name in KINDS and isinstance(section, AnswerSection):
            yield from answered(section)
    yield "badge", ": ".join(filter(None, (str(of.trust), of.account.causes)))
    yield "notices", "\n".join(of.notices)
    if of.cause:
        yield "cause", of.cause.first


def answered(section: AnswerSection) -> Iterator[Said]:
    by_question = section.found.by_question
    yield from ((section.name, f"{on}: {said}") for on, said in by_question.items())
    if not by_question:
        yield section.name, section.answer
    if section.name in ALSO:
        yield from ((section.name, said) for said in section.found.also)


def frames(of: Report) -> Iterator[Said]:
    """Yields who is framed on each question; twice or more if that depends on the baseline that a reader chooses."""
    yield from dict.fromkeys(every_frame(of))


def pairs(of: Report) -> Iterator[Said]:
    """Yields which stacks are shown to be slower than which: the page's script makes every frame and sentence of it."""
    assert of.overview
    data = of.overview.data
    for row, behind in zip(of.overview.shown.rows, data.metrics[STEADY.name].behind, strict=False):
        yield "behind", f"{row.name}: {', '.join(f'{data.stacks[one]} < {data.stacks[two]}' for one, two in behind)}"


def every_frame(of: Report) -> Iterator[Said]:
    assert of.overview
    for baseline in of.overview.baselines if len(of.analysis.blocks) > 1 else ():
        shown = of.overview.map_by(STEADY, baseline)
        for row, order in zip(shown.rows, of.overview.order, strict=True):
            if len(order) < 2:  # nobody to lead
                continue
            framed = [stack for stack, square in zip(shown.columns, row.squares, strict=True) if square.leads]
            yield "frames", f"{row.name}: {', '.join(framed)}"
