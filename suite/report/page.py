"""A whole report as plain data, from which the page, Markdown, CSV and JSON are written."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

from suite.answers.environment import differences
from suite.answers.facts import known
from suite.answers.noise import readings
from suite.case import Outcome, Purpose
from suite.errors import COMMAND
from suite.machine.description import named
from suite.report.map.controls import PageMap, page_map
from suite.report.map.panel import Panel, panels
from suite.report.map.remedies import HowMade
from suite.report.notices import Trust, notices
from suite.report.sections.mkl_note import MklNote
from suite.report.sections.registry import SECTIONS
from suite.report.sections.section import AnswerLine, Context, Section
from suite.report.sections.timed.headlines import Headline, headlines
from suite.report.sections.whole_set.method import sampled
from suite.report.sections.whole_set.reproduce import source
from suite.report.trust import Account
from suite.results import Results
from suite.results.analysis import Analysis
from suite.results.frame import Frame
from suite.results.names import precision_words

S = TypeVar("S", bound=Section)
WORKLOADS_MAX = 6  # in a page's title
CASES_MOST = 250  # of a page that isn't condensed; one of 200 takes 2.5 MB, opens in 0.8 s (benchmarks/report_size.py)
FRAMEWORKS = ("jax", "torch", "torch_xla", "torchax", "tensorflow", "numpy")  # in the grey line


@dataclass(frozen=True)
class Report:
    """What a page begins with, and its sections in order. `line` is the grey line under the map, and `facts` are folded
    under it. `account` has the badge of trust and the notices folded under it. `results` is the set itself."""

    set_id: str
    title: str
    line: tuple[str, ...]
    facts: Mapping[str, str]
    account: Account
    sections: tuple[Section, ...]
    analysis: Analysis
    headlines: tuple[Headline, ...]
    machine: Mapping[str, Any]
    results: Results

    @property
    def trust(self) -> Trust:
        """Returns the word of the badge."""
        return self.account.word

    @property
    def notices(self) -> tuple[str, ...]:
        """Returns what to know before believing a number, the gravest first."""
        return tuple(notice.text for notice in self.account.notices)

    @property
    def cases(self) -> int:
        """Returns how many cases are timed."""
        return sum(len(comparison.cells) for comparison in self.analysis.comparisons)

    @property
    def condensed(self) -> bool:
        """Whether there are so many cases that the page leaves out the parts of single questions, and says so."""
        return self.cases > CASES_MOST

    @property
    def command(self) -> str:
        """Returns the command that writes the set's report."""
        return f"{COMMAND} report --set={shlex.quote(f'results/{self.set_id}')}"

    @cached_property
    def overview(self) -> PageMap | None:
        """Returns the map of every question by every stack, over every baseline; None without a timed process."""
        return page_map(self.analysis, self.headlines, condensed=self.condensed)

    def panels(self, overview: PageMap | None) -> tuple[Panel, ...]:
        """Returns the panel behind each cell of the map, `overview`; none on a condensed page."""
        if self.condensed or overview is None:
            return ()
        own = {self.analysis.baseline: self.analysis}
        return panels(own | dict(overview.analyses), self.machine, HowMade.of(self.results))

    @property
    def cause(self) -> MklNote | None:
        """Returns a likely cause of the ranking that the set itself knows, which stands beside the first sentence."""
        return next((section.cause for section in self.sections if section.cause), None)

    @property
    def versions(self) -> str:
        """Returns the frameworks' versions."""
        return versions(self.analysis)

    @property
    def functions(self) -> frozenset[str]:
        """Returns the anchors of the functions whose text the page has."""
        return frozenset(anchor for section in self.sections for anchor in section.functions)

    @property
    def answers(self) -> list[AnswerLine]:
        """Returns the answers of all sections."""
        return [answer for section in self.sections for answer in section.answers()]

    def section(self, kind: type[S]) -> S | None:
        """Returns the section of a kind; None if the set has nothing to show in it."""
        return next((section for section in self.sections if isinstance(section, kind)), None)


def report(results: Results, baseline: str | None = None) -> Report:
    """Returns the report of a result set. Raises UserError for a baseline that the set doesn't have."""
    return report_of(results, results.analysis(baseline))


def report_of(results: Results, analysis: Analysis) -> Report:
    """Returns the report of a result set that is analysed already."""
    answered = headlines(analysis)
    context = Context(results, analysis, question_names(analysis), answered, Frame(results, analysis))
    sections = (kind.of(context) for kind in SECTIONS)
    noise = readings(analysis, results.blocks, results.ceilings)
    modified = source(results.path / "inputs")[1]
    told = notices(analysis, results.plan_file, noise, modified=modified, differences=differences(analysis.rows))
    return Report(
        set_id=results.set_id,
        title=title(analysis, results.set_id),
        line=line(results, analysis),
        facts=facts(results, analysis),
        account=Account(told),
        sections=tuple(section for section in sections if section is not None),
        analysis=analysis,
        headlines=answered,
        machine=results.machine,
        results=results,
    )


def question_names(analysis: Analysis) -> dict[str, str]:
    """Returns the name of each question by its comparison_id; the first section that names it decides."""
    names: dict[str, str] = {}
    for kind in SECTIONS:
        names = {**kind.names(analysis), **names}
    return names


def title(analysis: Analysis, set_id: str) -> str:
    """Returns the page's title: `ffn, gemm: which stack is fastest`, or the set's name if it has more than
    `WORKLOADS_MAX` workloads."""
    for kind in SECTIONS:
        if kind.topic and (names := kind.names(analysis)):
            workloads = sorted({name.split()[0] for name in names.values()})
            if len(workloads) <= WORKLOADS_MAX:
                return f"{', '.join(workloads)}: {kind.topic}"
            break
    return f"Result set {set_id}"


def line(results: Results, analysis: Analysis) -> tuple[str, ...]:
    """Returns the parts of the grey line under the map: machine, day, versions of the frameworks, engine."""
    engines = sorted({row.text("engine") for row in analysis.counted} - {""})
    parts = [
        named(results.machine) if results.machine else "",
        measured_at(results, analysis)[:10],
        versions(analysis),
        f"engine: {', '.join(engines)}" if engines else "",
    ]
    return tuple(filter(None, parts))


def versions(analysis: Analysis) -> str:
    """Returns the frameworks' versions: `jax 0.12.0.1, torch 2.13.0 and 2.9.0`."""
    known: dict[str, set[str]] = {}
    for row in analysis.counted:
        for package, version in row.mapping("versions").items():
            known.setdefault(package.removesuffix("-cpu"), set()).add(str(version).partition("+")[0])
    return ", ".join(f"{name} {' and '.join(sorted(known[name]))}" for name in FRAMEWORKS if name in known)


def measured_at(results: Results, analysis: Analysis) -> str:
    """Returns when the first process of a set began, in UTC, like `2026-01-15 09:30`; when it was planned, if none
    did."""
    started = min((str(row["started_at"]) for row in analysis.rows if row["started_at"]), default="")
    planned = results.plan_file.created_at if results.plan_file else ""
    return (started or planned)[:16].replace("T", " ")


def facts(results: Results, analysis: Analysis) -> dict[str, str]:
    """Returns the facts that are folded under the grey line."""
    counted, when = analysis.counted, measured_at(results, analysis)
    answering = [row for row in counted if row["purpose"] not in (Purpose.EXPLAIN, Purpose.PROFILE)] or counted
    ok = sum(row.outcome == Outcome.OK for row in answering)

    def values(column: str) -> str:
        return ", ".join(sorted({row.text(column) for row in counted}))

    return known(
        {
            "Result set": results.set_id,
            "Measured": f"{when} UTC" if when else "",
            "Machine": results.described_machine,
            "Sizes": values("size"),
            "Precision": ", ".join(sorted({precision_words(row) for row in counted})),
            "Target": values("target"),
            "Cores each": ", ".join(
                map(str, sorted({row["threads"] for row in counted if row["threads"] is not None}))
            ),
            "Processes": f"{ok} ok of {len(answering)} planned",
            "Sampled": sampled(counted),
            "Blocks": str(len(analysis.blocks)) if analysis.comparisons else "",
            "Baseline": analysis.baseline if analysis.comparisons else "",
        }
    )
