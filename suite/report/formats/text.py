"""A result set without its page: Markdown short enough for a comment, a line a case for spreadsheets, JSON."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from suite import units
from suite.report.formats.document import document, peak
from suite.report.formats.tables import Table, Told, Value
from suite.report.page import Report, report_of
from suite.report.sections.answers import standing_in
from suite.report.sections.comparison import column_units
from suite.report.sections.memory import MemorySection
from suite.report.sections.outcomes import WITHOUT_PHASE, WORDS, Failure, outcome_text
from suite.report.sections.profiles import ProfileSection
from suite.report.sections.programs import ProgramSection
from suite.report.sections.within_set import table_of
from suite.results import Results, stack_line
from suite.results.analysis import Comparison
from suite.results.questions.behaviour import Behaviour
from suite.results.questions.capacity import MemoryQuestion
from suite.results.shown import only

ACROSS = 4  # questions side by side; more are a further table
MOST = 12  # lines of a list
LONGEST = 240  # characters of a reason
COLUMNS = (
    "median_seconds",
    "low_seconds",
    "high_seconds",
    "first_seconds",
    "second_seconds",
    "baseline",
    "speedup",
    "speedup_low",
    "speedup_high",
    "verdict",
    "verdict_reason",
)
HEADS = ("question", "stack", "purpose", "outcome", "reason", "ok", "planned", *COLUMNS, "peak_bytes", "flags")
SHOWN = ("Result set", "Measured", "Machine", "Processes", "Blocks")  # of the facts under a page's title


def told(results: Results, baseline: str | None = None, stacks: Sequence[str] = ()) -> Told:
    """Everything from the page's own view models, of all stacks or of some (globs). Raises UserError for a baseline or
    a stack that the set doesn't have."""
    analysis = only(results.analysis(baseline), stacks)
    made = report_of(results, analysis)
    comparisons = [section.comparison for section in made.sections]
    lines = [line for comparison in comparisons for line in timed(comparison)]
    lines += [line for question in analysis.memory for line in remembered(question)]
    lines += [line for probe in analysis.behaviour for line in observed(probe)]
    return Told(tables(made, comparisons), HEADS, lines, document(results, analysis))


def tables(made: Report, comparisons: Sequence[Comparison]) -> list[Table]:
    """The answers first, then what they come from."""
    facts = [f"{fact.name}: {fact.value}" for fact in made.facts if fact.name in SHOWN]
    others: Sequence[MemorySection | ProfileSection | ProgramSection]
    others = [*made.memory, *made.profiles, *made.programs]
    answers = [each.text for each in made.headlines]
    answers += [f"{section.name}: {section.answer}" for section in others if section.answer]
    found = [Table(made.title, (), (), before=[*answers, *facts])]
    if made.notices:
        found.append(Table("What to know before believing a number", (), (), before=made.notices))
    timed = [each for each in comparisons if each.stacks]
    found += [speedups(timed[first : first + ACROSS], made) for first in range(0, len(timed), ACROSS)]
    found += map(table_of, made.ways)
    found += [Table(each.behaviour.title, ("aspect", "observed"), each.lines) for each in made.behaviour]
    if unlucky := failed(made.failures):
        found.append(Table("What didn't end ok", (), (), before=cut(unlucky)))
    if flagged := flags(comparisons):
        found.append(Table("What is flagged", (), (), before=cut(flagged)))
    return found


def speedups(comparisons: Sequence[Comparison], made: Report) -> Table:
    """A line a stack, a column a question; the baseline's are times."""
    names = [f"{each.name} (over {each.baseline})" if each.stands_in_for else each.name for each in comparisons]
    ended = [{cell.stack: cell for cell in comparison.cells} for comparison in comparisons]
    stacks = [stack for stack in made.stacks if stack != made.baseline and any(stack in cells for cells in ended)]
    lines = [[stack, *(cell_text(each, stack) for each in comparisons)] for stack in (*stacks, made.baseline)]
    floors = [
        f"{each.name} {units.estimate(each.noise.ratio.value, each.noise.ratio.low, each.noise.ratio.high)}"
        for each in comparisons
        if each.noise
    ]
    noise = f"Noise floor, a stack over itself: {', '.join(floors)}. What lies inside means nothing."
    return Table(
        f"Speedup over {made.baseline}",
        ["stack", *names],
        lines,
        numbers=names,
        before=[*filter(None, map(standing_in, comparisons))],
        after=[noise] * bool(floors),
    )


def cell_text(comparison: Comparison, stack: str) -> str:
    """`1.42× [1.35, 1.50] faster`; the time of the baseline, or how it ended."""
    cell = next((each for each in comparison.cells if each.stack == stack), None)
    figures = comparison.of(stack)
    if cell is None:
        return units.UNKNOWN
    if figures is None or not figures.counts:
        return outcome_text(cell)
    aside = f", {outcome_text(cell)}" if cell.failed else ""
    if figures.is_baseline or figures.speedup is None:
        return f"{column_units(comparison).steady(figures.median.value)}{aside}"
    ratio = figures.speedup.ratio
    return f"{units.estimate(ratio.value, ratio.low, ratio.high)} {figures.speedup.verdict}{aside}"


def failed(failures: Iterable[Failure]) -> list[str]:
    """`gpt2 train, torch_xla: timeout in first: Compiling took longer than 600 s.`, once a case that ended so."""
    first = {(each.comparison, each.stack, each.purpose, each.outcome, each.phase): each for each in failures}
    return [
        f"{each.comparison}, {each.stack}: {ending(each)}: {shortened(each.reason) or 'no reason was recorded.'}"
        for each in first.values()
    ]


def ending(failure: Failure) -> str:
    """`timeout in first`."""
    where = f" in {failure.phase}" if failure.phase and failure.outcome not in WITHOUT_PHASE else ""
    return f"{WORDS.get(failure.outcome, failure.outcome)}{where}"


def shortened(reason: str) -> str:
    """As long as a comment takes."""
    return reason if len(reason) <= LONGEST else f"{reason[:LONGEST]}…"


def flags(comparisons: Iterable[Comparison]) -> list[str]:
    """Each flag with the stacks and questions that have it."""
    found: dict[str, list[str]] = {}
    for comparison in comparisons:
        for figures in comparison.stacks:
            for flag, share in figures.flags:
                found.setdefault(flag, []).append(f"{figures.stack} in {comparison.name}{share and f' ({share})'}")
    return [f"{flag.replace('_', ' ')}: {', '.join(cut(cases, 'others'))}" for flag, cases in sorted(found.items())]


def cut(lines: list[str], rest: str = "more: the page has them") -> list[str]:
    """As many as a comment takes; the others are counted."""
    return lines if len(lines) <= MOST else [*lines[:MOST], f"{len(lines) - MOST} {rest}"]


def timed(comparison: Comparison) -> Iterable[list[Value]]:
    """A line a stack of a question, in seconds and bytes."""
    for cell in comparison.cells:
        figures = comparison.of(cell.stack)
        told = stack_line(figures)
        yield [
            comparison.name,
            cell.stack,
            "timed",
            cell.outcome,
            cell.reason,
            cell.ok,
            cell.total,
            *(told.get(column) for column in COLUMNS),
            peak(figures),
            "; ".join(flag for flag, _ in figures.flags) if figures else None,
        ]


def remembered(question: MemoryQuestion) -> Iterable[list[Value]]:
    """A line a stack and size of a question of memory, in bytes."""
    nothing: list[Any] = [None] * len(COLUMNS)
    for line in question.lines:
        for size, row in zip(question.sizes, line.rows, strict=True):
            if row is not None:
                yield [
                    f"{question.name} ({size.label})",
                    line.stack,
                    "memory",
                    row.outcome,
                    row.text("reason"),
                    int(row.outcome == "ok"),
                    1,
                    *nothing,
                    row.peak_bytes,
                    "; ".join(row.flags),
                ]


def observed(probe: Behaviour) -> Iterable[list[Value]]:
    """A line an aspect and stack of a probe: its class stands where a verdict does."""
    for aspect in probe.aspects:
        for stack, answer in sorted(aspect.answers.items()):
            outcome, reason = probe.without.get(stack, ("ok", ""))
            told = {"verdict": answer.class_, "verdict_reason": answer.words or None}
            yield [
                f"{probe.name}: {aspect.title}",
                stack,
                "probe",
                outcome,
                reason,
                int(outcome == "ok"),
                1,
                *(told.get(column) for column in COLUMNS),
                None,
                None,
            ]
