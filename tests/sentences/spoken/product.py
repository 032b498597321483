"""The sentences that people see, from the product's own outputs: a set's report, over each baseline that it offers."""

from __future__ import annotations

from collections.abc import Iterator

from suite import results
from suite.answers.comparisons import apart, compared
from suite.page.map.metrics import METRICS, STEADY, Metric
from suite.page.map.other_baselines import other_baselines
from suite.page.map.page_map import Map
from suite.page.report import Report, report
from suite.page.sections.section import AnswerSection
from suite.results.frame import Frame
from tests.sentences.check import Spoken
from tests.sentences.facts.machine import OTHERS_SHARE
from tests.sentences.facts.reader import Truth

KINDS = ("summary", "comparisons", "latency", "break_even", "compiled", "unified", "transfers", "ways", "peaks",
         "holders", "endings", "equivalence", "noise", "blocks", "frontier", "memory")  # fmt: skip
ALSO = ("summary", "break_even")  # answers whose further sentences have figures
CLOCKS = [metric for metric in METRICS if metric.clock]


def sentences(truth: Truth) -> Iterator[Spoken]:
    """Yields every sentence of a set's page with its kind."""
    of = report(results.load(truth.folder))
    yield from (("headline", answer.text, truth) for answer in of.headlines)
    if of.overview:
        yield "map", of.overview.sentence, truth
        yield from pairs(of, truth)
        for baseline in of.overview.baselines:
            yield from over(of, baseline, truth.seen(baseline))
        for part in other_baselines(of.overview, of.results):
            for name, found in part.answers.items():
                said = [found.sentence, *found.also] if name == "summary" else found.also
                yield from ((name, each, truth.seen(part.baseline)) for each in said)
    for section in of.sections:
        if section.name in KINDS and isinstance(section, AnswerSection):
            yield from ((section.name, said, truth) for said in answered(section))
            yield from withdrawable(section, truth)
    yield "badge", ": ".join(filter(None, (str(of.trust), of.account.causes))), truth
    yield "notices", "\n".join(of.notices), truth
    if of.cause:
        yield "cause", of.cause.first, truth


def answered(section: AnswerSection) -> Iterator[str]:
    by_question = section.found.by_question
    yield from (f"{on}: {said}" for on, said in by_question.items())
    if not by_question:
        yield section.answer
    if section.name in ALSO:
        yield from section.found.also


def withdrawable(section: AnswerSection, truth: Truth) -> Iterator[Spoken]:
    """Yields what the table of noise says of the reading that some sets withdraw."""
    for line in section.found.table.to_dicts() if section.name == "noise" else ():
        if line["reading"] == OTHERS_SHARE:
            yield "readings", f"{line['found']}; {line['within']}", truth


def pairs(of: Report, truth: Truth) -> Iterator[Spoken]:
    """Yields which stacks are shown to be slower than which, by each clock: the page's script makes every frame and
    sentence of it."""
    assert of.overview
    data = of.overview.data
    for metric in CLOCKS:
        behind = data.metrics[metric.name].behind if metric.name in data.metrics else []
        for row, slower in zip(of.overview.shown.rows, behind, strict=False):
            listed = ", ".join(f"{data.stacks[one]} < {data.stacks[two]}" for one, two in slower)
            yield "behind", f"{row.name}: {listed}", truth.seen(clock=metric.clock)


def over(of: Report, baseline: str, truth: Truth) -> Iterator[Spoken]:
    """Yields what the page says over one baseline: headlines, means, frames, and what stands beside a verdict."""
    assert of.overview
    if baseline != of.overview.baseline:
        yield from (("headline", answer.text, truth) for answer in of.overview.headlines[baseline])
    for metric in CLOCKS:
        shown = of.overview.map_by(metric, baseline)
        yield "means", "\n".join(means(shown)), truth.seen(baseline, metric.clock)
        yield from (("frames", said, truth.seen(baseline, metric.clock)) for said in frames(of, shown, metric))
    for line in compared(Frame(of.results, of.overview.analyses[baseline])).to_dicts():
        if line["counts"] and line["stack"] != line["baseline"] and line["speedup"]:
            assert apart(line) in line["judged_note"]
            yield "aside", f"{line['question']} | {line['stack']} over {line['baseline']}: {apart(line)}".rstrip(), truth


def means(shown: Map) -> Iterator[str]:
    for row in shown.means:
        cells = zip(shown.columns, row.squares, strict=True)
        yield f"{row.over} | " + "; ".join(f"{who}: {cell.words} {cell.small}".rstrip() for who, cell in cells)


def frames(of: Report, shown: Map, metric: Metric) -> Iterator[str]:
    """Yields who is framed on each question on which anybody can lead."""
    assert of.overview
    for row, order in zip(shown.rows, of.overview.order, strict=True):
        if len(order) > 1 and len(of.analysis.blocks) > 1 and metric is STEADY:
            framed = [who for who, square in zip(shown.columns, row.squares, strict=True) if square.leads]
            yield f"{row.name}: {', '.join(framed)}"
