"""The section "Every case": how each case ended and why. In Markdown it has only the cases that didn't end `ok`, and
those that have a flag. After a run the console prints the failures among these endings (`suite/cli/measure/answer.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from suite import units
from suite.answers.sentences import by_number, counted
from suite.case import OUTSIDE_BLOCKS, Outcome, Purpose
from suite.report.sections.labels import panel_anchor
from suite.report.sections.section import Context, Section
from suite.report.tables import Table
from suite.results.analysis import Comparison
from suite.results.outcomes import SEVERITY, WORDS, flag_counts, gravest, outcome_words
from suite.sets.rows import Row, ended

MOST = 12  # lines of a list in Markdown; the others are counted
LONGEST = 240  # characters of a reason in Markdown and on the console
ALIKE = ("case_id", "purpose", "outcome", "phase", "reason")  # columns in which the processes of an Ending agree
# Processes whose results other sections show: they have a line here only if they didn't end `ok`.
ASIDE = (Purpose.PRIME, Purpose.IR, Purpose.EXPLAIN, Purpose.PROFILE)

# What an untimed process is for.
AIMS: Mapping[str, str] = {
    Purpose.MEMORY: "takes a few steps and reads peak memory",
    Purpose.PRIME: "fills the compile caches with which a warm case starts",
    Purpose.IR: "keeps the programs that the stack hands to its compiler",
    Purpose.PREDICT: "has an accelerator's compiler judge the case",
    Purpose.EXPLAIN: "records the kernels that run and what holds the memory",
    Purpose.PROFILE: "records where a step's time goes",
    Purpose.PROBE: "observes how the stack behaves",
}


@dataclass(frozen=True, slots=True)
class Ending:
    """Processes of one case that ended alike: with the same outcome, phase and reason. `log` is a folder of the set, on
    the machine that ran the process; empty where no process ran."""

    comparison_id: str
    comparison: str
    stack: str
    purpose: str
    outcome: str
    phase: str
    reason: str
    exception_type: str
    message: str
    exit: str
    stderr_tail: str
    provenance: str
    flags: tuple[tuple[str, str], ...]
    blocks: tuple[int, ...]
    processes: int
    log: str

    @property
    def ending(self) -> str:
        """Returns `timeout in the first run`."""
        return outcome_words(self.outcome, self.phase)

    @property
    def in_blocks(self) -> str:
        """Returns its blocks as `1–3, 5`; a dash for processes that run outside of the blocks."""
        return units.UNKNOWN if self.purpose in OUTSIDE_BLOCKS else ranges(self.blocks)

    @property
    def aim(self) -> str:
        """Returns what an untimed process is for; empty for a timed one."""
        return AIMS.get(self.purpose, "")


@dataclass(frozen=True, slots=True)
class OutcomesSection(Section):
    """How the set's cases ended. `endings` are sorted by comparison, the gravest of each first. `cases` is {outcome:
    number of cases}, where a case has the gravest outcome of its processes. `aside` is how many processes for programs,
    profiles and the like, beside those of the cases, didn't end `ok`. `comparisons` are here for their flags. `panels`
    has the anchor of each cell's panel by (comparison_id, stack)."""

    endings: tuple[Ending, ...]
    cases: Mapping[str, int]
    aside: int
    comparisons: tuple[Comparison, ...]
    panels: Mapping[tuple[str, str], str]

    name = "outcomes"
    nav = "Every case"
    heading = "Every case and its reason"
    terms = ("case", "out of memory", "timeout", "unsupported", "crashed", "wrong result", "implausible", "inferred")

    @classmethod
    def of(cls, context: Context) -> OutcomesSection:
        """Returns the section, also where nothing was planned."""
        comparisons = context.analysis.comparisons
        panels = {
            (comparison.id, cell.stack): panel_anchor(comparison, cell.stack)
            for comparison in comparisons
            for cell in comparison.cells
        }
        listed = endings(context.analysis.rows, context.names)
        shown = tuple(line for line in listed if line.outcome != Outcome.OK or line.purpose not in ASIDE)
        own, others = apart(context.analysis.counted)
        aside = sum(row["outcome"] != Outcome.OK for row in map(ended, others))
        return cls(shown, cases(own), aside, comparisons, panels)

    @property
    def failures(self) -> tuple[Ending, ...]:
        """Returns the endings that aren't `ok`."""
        return tuple(line for line in self.endings if line.outcome != Outcome.OK)

    def panel(self, line: Ending) -> str:
        """Returns the anchor of the panel of a case; empty without a panel."""
        return self.panels.get((line.comparison_id, line.stack), "") if line.purpose == Purpose.TIMED else ""

    @property
    def answer(self) -> str:
        """Returns how many cases ended `ok`, and how the others did."""
        others = [(WORDS.get(word, word), count) for word, count in self.cases.items() if word != Outcome.OK]
        rest = f"; {by_number(others)}" if others else ""
        if self.aside:
            rest += f"; apart from these, {counted(self.aside, 'process')} for programs, profiles and the like didn't"
        planned = counted(sum(self.cases.values()), "planned case")
        return f"{self.cases.get(Outcome.OK, 0):,} of {planned} ended ok{rest}."

    def tables(self) -> Sequence[Table]:
        """Returns two lists: the cases that didn't end `ok`, and those that have a flag."""
        lists = [
            ("What didn't end ok", failure_lines(self.failures)),
            ("What is flagged", flag_lines(self.comparisons)),
        ]
        return [Table(title, (), (), before=cut(lines)) for title, lines in lists if lines]

    def console(self) -> Sequence[Table]:
        """Returns nothing: the last lines of a run say why it failed."""
        return []


def apart(counted_rows: Iterable[Row]) -> tuple[list[Row], list[Row]]:
    """Returns the rows of the processes that a set is of, and those of processes beside them. In a set of programs or
    profiles alone these are what it is of."""
    rows = list(counted_rows)
    own = [row for row in rows if row["purpose"] not in ASIDE]
    return (own, [row for row in rows if row["purpose"] in ASIDE]) if own else (rows, [])


def cases(counted_rows: Iterable[Row]) -> dict[str, int]:
    """Returns {outcome: number of cases}, the most frequent first. `counted_rows` has a row for each planned process. A
    case that is timed and whose memory is measured counts twice; one whose kernels and profile are recorded, once."""
    outcomes: dict[tuple[str, ...], list[str]] = {}
    for row in map(ended, counted_rows):
        purpose = "" if row["purpose"] in ASIDE else row["purpose"]
        outcomes.setdefault((row["comparison_id"], row.stack_name, purpose), []).append(row.outcome)
    return dict(Counter(map(gravest, outcomes.values())).most_common())


def failures(rows: Iterable[Row], names: Mapping[str, str]) -> tuple[Ending, ...]:
    """Returns the endings that aren't `ok`. `names` has the name of each comparison_id."""
    return tuple(line for line in endings(rows, names) if line.outcome != Outcome.OK)


def endings(rows: Iterable[Row], names: Mapping[str, str]) -> tuple[Ending, ...]:
    """Returns an ending for all rows that ended alike, sorted by comparison, the gravest of each first."""
    alike: dict[tuple[str, ...], list[Row]] = {}
    for row in map(ended, rows):
        alike.setdefault(tuple(map(row.text, ALIKE)), []).append(row)
    lines = [ending(group, names) for group in alike.values()]
    return tuple(
        sorted(lines, key=lambda line: (line.comparison, SEVERITY.index(line.outcome), line.stack, line.blocks))
    )


def ending(rows: Sequence[Row], names: Mapping[str, str]) -> Ending:
    """Returns the ending of rows that ended alike, with the message and the log of the last row."""
    last = max(rows, key=lambda row: (row["block"], row["replicate"], row["retry"]))
    code, signal = last.number("exit_code"), last.number("signal")
    ends = [f"exit code {code:.0f}"] if code is not None else []
    ends += [f"signal {signal:.0f}"] if signal else []
    return Ending(
        comparison_id=last.text("comparison_id"),
        comparison=names.get(last["comparison_id"], "") or last.text("case_name"),
        stack=last.stack_name,
        purpose=last.text("purpose"),
        outcome=last.outcome,
        phase=last.text("phase"),
        reason=last.text("reason"),
        exception_type=last.text("exception_type"),
        message=last.text("message"),
        exit=", ".join(ends),
        stderr_tail=last.text("stderr_tail"),
        provenance=last.text("provenance"),
        flags=flag_counts(rows),
        blocks=tuple(sorted({row["block"] for row in rows})),
        processes=len(rows),
        log=f"logs/{last.attempt_name}" if last["provenance"] == "measured" else "",
    )


def ranges(numbers: Sequence[int]) -> str:
    """Returns sorted numbers as `1–3, 5`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1][1:] = [number]
        else:
            runs.append([number])
    return ", ".join("–".join(map(str, run)) for run in runs)


def failure_lines(listed: Iterable[Ending]) -> list[str]:
    """Returns lines like `gpt2 train, torch_xla: timeout in the first run: Compiling took longer than 600 s.`: one for
    each case, outcome and phase, with the first reason."""
    first: dict[tuple[str, ...], Ending] = {}
    for line in listed:
        first.setdefault((line.comparison, line.stack, line.purpose, line.outcome, line.phase), line)
    return [
        f"{line.comparison}, {line.stack}: {line.ending}: {shortened(line.reason) or 'no reason was recorded.'}"
        for line in first.values()
    ]


def flag_lines(comparisons: Iterable[Comparison]) -> list[str]:
    """Returns a line for each flag, with the stacks and questions that have it."""
    flagged: dict[str, list[str]] = {}
    for comparison in comparisons:
        for stack in comparison.stacks:
            for flag, share in stack.flags:
                flagged.setdefault(flag, []).append(f"{stack.stack} in {comparison.name}{share and f' ({share})'}")
    return [f"{flag.replace('_', ' ')}: {', '.join(cut(cases, 'others'))}" for flag, cases in sorted(flagged.items())]


def shortened(reason: str) -> str:
    """Returns a reason, cut if it is longer than `LONGEST`."""
    return reason if len(reason) <= LONGEST else f"{reason[:LONGEST]}…"


def cut(lines: list[str], rest: str = "more: the page has them") -> list[str]:
    """Returns the first `MOST` lines, and the number of the others."""
    return lines if len(lines) <= MOST else [*lines[:MOST], f"{len(lines) - MOST} {rest}"]
