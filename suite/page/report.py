"""A whole report as plain data, from which the page, Markdown, CSV and JSON are written."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from suite.answers.answer import Asked
from suite.answers.environment import differences
from suite.answers.facts import known
from suite.answers.noise import readings
from suite.answers.sentences import capital, listed
from suite.answers.undecided import undecided
from suite.case import Flag, Outcome, Purpose
from suite.errors import COMMAND
from suite.machine.description import named, place
from suite.order import natural
from suite.page.map.controls import PageMap
from suite.page.map.frameworks import frameworks
from suite.page.map.panel import Panel, panels
from suite.page.notices import Account, Trust, account
from suite.page.sections.mkl_note import MklNote
from suite.page.sections.registry import SECTIONS, sections_of
from suite.page.sections.section import Context, Section
from suite.page.sections.timed.headlines import Headline
from suite.page.sections.whole_set.method import sampled
from suite.page.sections.whole_set.reproduce import source
from suite.results import Results
from suite.results.analysis import Analysis
from suite.results.frame import Frame
from suite.sets import manifest
from suite.verdicts.names import precision_words

S = TypeVar("S", bound=Section)
WORKLOADS_MAX = 6  # in a page's title
CASES_MOST = 250  # of a page that isn't condensed; one of 200 takes 2.5 MB, opens in 0.8 s (benchmarks/report_size.py)
FRAMEWORKS = (
    "jax",
    "torch",
    "torch_xla",
    "torchax",
    "torch_tpu",
    "tensorflow",
    "onnxruntime",
    "openvino",
    "iree-base-compiler",
    "numpy",
)  # in the grey line


@dataclass(frozen=True)
class Report:
    """A result set, analysed, and what each format says of it; each part is computed when it is first asked for."""

    results: Results
    analysis: Analysis

    @property
    def set_id(self) -> str:
        return self.results.set_id

    @property
    def headlines(self) -> tuple[Headline, ...]:
        return self.overview.headlines[self.analysis.baseline] if self.overview else ()

    @cached_property
    def sections(self) -> list[Section]:
        return sections_of(Context(Frame(self.results, self.analysis), self.headlines))

    @cached_property
    def account(self) -> Account:
        """The badge of trust, and the notices folded under it."""
        analysis, results = self.analysis, self.results
        noise = readings(analysis, results.blocks, results.ceilings)
        modified = source(results.path / "inputs")[1]
        unlike = differences(analysis.rows)
        cut_short = analysis.protocol.until_decided and not (results.path / manifest.NAME).exists()
        return account(analysis, results.plan_file, noise, modified=modified, cut_short=cut_short, differences=unlike)

    @property
    def trust(self) -> Trust:
        return self.account.word

    @property
    def notices(self) -> list[str]:
        """What to know before believing a number, the gravest first."""
        return [notice.text for notice in self.account.notices]

    @property
    def cases(self) -> int:
        return sum(len(comparison.cases) for comparison in self.analysis.comparisons)

    @property
    def condensed(self) -> bool:
        """Whether there are so many cases that the page leaves out the parts of single questions, and says so."""
        return self.cases > CASES_MOST

    @property
    def command(self) -> str:
        """The command that writes the set's report."""
        return f"{COMMAND} report --set={shlex.quote(f'results/{self.set_id}')}"

    @cached_property
    def overview(self) -> PageMap | None:
        """The map of every question by every stack, over every baseline; None without a timed process."""
        return PageMap(self.analysis, self.condensed) if self.analysis.comparisons else None

    @cached_property
    def frameworks(self) -> str:
        """The answer by frameworks, on this machine; empty where nothing is judged."""
        said, on = frameworks(self.analysis), place(self.results.machine, self.analysis.counted)
        return said and capital(f"{f'On this {on} ' * bool(on)}{said}.")

    @property
    def verdict(self) -> str:
        """The set in one sentence: who leads on the map, or else what the first section found that answers it."""
        if self.overview:
            return self.overview.sentence
        return next((section.answer for section in self.sections if [*section.answers()]), "")

    @property
    def assumed(self) -> str:
        """In how many processes of which questions the steady state is assumed; empty if in none."""
        comparisons, every, each = self.analysis.comparisons, [0, 0], []
        for comparison in comparisons:
            stacks = {cell.stack for cell in comparison.cases}
            rows = [row for row in self.analysis.counted if row["comparison_id"] == comparison.id and row.samples()]
            flags = [Flag.ASSUMED in row.flags for row in rows if row.stack_name in stacks]
            every = [every[0] + sum(flags), every[1] + len(flags)]
            each += [f"{sum(flags):,} of {len(flags):,} on {comparison.name}"] if any(flags) else []
        which = f": {listed(each)}" if len(comparisons) > 1 else ""
        return f"Steady state is assumed, not shown, in {every[0]:,} of {every[1]:,} processes{which}." if each else ""

    @property
    def panels(self) -> list[Panel]:
        """The panel behind each cell of the map; none on a condensed page."""
        if self.condensed or self.overview is None:
            return []
        return panels(self.analysis, self.overview.analyses, self.results.machine, self.results.plan_file)

    @cached_property
    def undecided(self) -> list[str]:
        """Why a run until decided has left questions undecided, and what would decide them."""
        return undecided(self.results, self.analysis) if self.overview else []

    @cached_property
    def cause(self) -> MklNote | None:
        """A likely cause of the ranking that the set itself knows, which stands beside the first sentence."""
        return next((section.cause for section in self.sections if section.cause), None)

    @cached_property
    def functions(self) -> frozenset[str]:
        """The anchors of the functions whose text the page has."""
        return frozenset(anchor for section in self.sections for anchor in section.functions)

    @property
    def answers(self) -> list[tuple[str, Headline]]:
        return [answer for section in self.sections for answer in section.answers()]

    def section(self, kind: type[S]) -> S | None:
        """Returns the section of a kind; None if the set has nothing to show in it."""
        return next((section for section in self.sections if isinstance(section, kind)), None)

    @property
    def title(self) -> str:
        """`ffn, gemm: which stack is fastest`, or the set's name if it has more than `WORKLOADS_MAX` workloads."""
        for asked in SECTIONS:
            if isinstance(asked, Asked) and asked.topic:
                purpose = asked.purpose or Purpose.TIMED
                workloads = sorted({row.text("workload") for row in self.analysis.counted if row["purpose"] == purpose})
                if 0 < len(workloads) <= WORKLOADS_MAX:
                    return f"{', '.join(workloads)}: {asked.topic}"
                if workloads:
                    break
        return f"Result set {self.set_id}"

    @property
    def line(self) -> list[str]:
        """The parts of the grey line under the map: machine, day, versions of the frameworks, engine."""
        engines = sorted({row.text("engine") for row in self.analysis.counted} - {""})
        parts = [
            named(self.results.machine) if self.results.machine else "",
            self.measured_at[:10],
            self.versions,
            f"engine: {', '.join(engines)}" if engines else "",
        ]
        return [*filter(None, parts)]

    @property
    def versions(self) -> str:
        """The frameworks' versions: `jax 0.12.0.1, torch 2.15.0 and 2.9.0`."""
        seen: dict[str, set[str]] = {}
        for row in self.analysis.counted:
            for package, version in row.mapping("versions").items():
                seen.setdefault(package.removesuffix("-cpu"), set()).add(str(version).partition("+")[0])
        return ", ".join(
            f"{name} {' and '.join(sorted(seen[name], key=natural))}" for name in FRAMEWORKS if name in seen
        )

    @property
    def measured_at(self) -> str:
        """When the first process of the set began, in UTC, like `2026-01-15 09:30`; when it was planned, if none
        did."""
        started = min((str(row["started_at"]) for row in self.analysis.rows if row["started_at"]), default="")
        file = self.results.plan_file
        return (started or (file.created_at if file else ""))[:16].replace("T", " ")

    @property
    def facts(self) -> dict[str, str]:
        analysis, counted = self.analysis, self.analysis.counted
        answering = [row for row in counted if row["purpose"] not in (Purpose.EXPLAIN, Purpose.PROFILE)] or counted
        ok = sum(row.outcome == Outcome.OK for row in answering)

        def values(column: str) -> str:
            return ", ".join(sorted({row.text(column) for row in counted}))

        return known(
            {
                "Result set": self.set_id,
                "Measured": f"{self.measured_at} UTC" if self.measured_at else "",
                "Machine": self.results.described_machine,
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


def report(results: Results, baseline: str | None = None) -> Report:
    """Returns the report of a result set. Raises UserError for a baseline that the set doesn't have."""
    return Report(results, results.analysis(baseline))
