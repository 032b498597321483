"""Shows a run's progress, as a bar on a terminal and as a plain line for each process elsewhere; and prints tables.

Progress goes to standard error, tables to standard output. Nothing is drawn while a process is being measured.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection, Sequence
from contextlib import ExitStack
from statistics import median
from typing import Literal

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from suite import units
from suite.case import Attempt, Flag, Outcome, Purpose
from suite.cli.terminal.count import Count
from suite.cli.terminal.streams import plain_streams, unfiltered
from suite.guard.printable import printable
from suite.results.questions.programs import stack_programs
from suite.results.store.rows import Row
from suite.stacks.names import case_name

PIPED_WIDTH = 160
PIECE = re.compile(r"[^-/,]*[-/,]?")  # a part of a word with the separator behind it, where a line may break
WORDS = {  # begin the line of a process outside the blocks
    Purpose.EXPLAIN: "kernels",
    Purpose.MEMORY: "memory",
    Purpose.IR: "programs",
    Purpose.PREDICT: "predicted",
    Purpose.PROFILE: "profile",
    Purpose.PROBE: "probe",
}


class QuestionUnits:
    """Chooses the unit in which a question's times are shown, from all its times so far."""

    def __init__(self) -> None:
        self.seconds: dict[tuple[str, str], dict[str, float]] = {}  # {(comparison_id, call): {stack: seconds}}

    def shown(self, row: Row, call: str, seconds: float | None) -> str:
        """Returns a time of a finished process in its question's unit; a dash if the time is unknown."""
        if seconds is None:
            return units.UNKNOWN
        of_question = self.seconds.setdefault((row.text("comparison_id"), call), {})
        of_question[row.stack_name] = seconds
        return units.time_unit(of_question.values())(seconds)


def line(row: Row, question_units: QuestionUnits) -> str:
    """Returns the line of a finished process: its block, its case, and its figures or its outcome."""
    twin = " (A/A twin)" if row["replicate"] > 1 else ""
    where = f"block {row['block']}" if row["block"] else WORDS[row["purpose"]]
    name = f"{where}  {row['case_name']}{twin}"
    samples = row.samples()
    told = [flag for flag in row["flags"] if flag != Flag.ASSUMED]  # so few samples are the preset's choice
    flags = f"  [{', '.join(told)}]" if told else ""
    if row.kernels:
        return f"{name}  {row.kernels}"
    if profile := row.mapping("profile"):
        return (
            f"{name}  {units.seconds(profile['seconds'])}, {units.seconds(profile['plain_seconds'])} without profiler"
        )
    if row["purpose"] == Purpose.PROBE and row["outcome"] == Outcome.OK:
        return f"{name}  {', '.join(' '.join((e['aspect'], e['class'])) for e in row.entries('behaviour'))}"
    if row["purpose"] == Purpose.IR and row["outcome"] == Outcome.OK:
        unread = "".join(f"; {reason}" for reason in [stack_programs(row).unread] if reason)
        return f"{name}  {len(row.entries('programs'))} kept{unread}"
    if row["purpose"] == Purpose.PREDICT and row["outcome"] == Outcome.OK:
        prediction = row.mapping("prediction")
        room = f"{units.quantity(prediction['needed_bytes'])} of {units.quantity(prediction['device_bytes'])}"
        return f"{name}  fits, {room}, compiled in {units.seconds(row['compile_seconds'])}"
    if row["purpose"] == Purpose.MEMORY and row["outcome"] == Outcome.OK:
        return f"{name}  fits, peak {units.quantity(row.peak_bytes)}"
    if row["outcome"] == Outcome.OK and samples:
        first = question_units.shown(row, "first", row.number("first_seconds"))
        return f"{name}  ok  first {first}, steady {question_units.shown(row, 'steady', median(samples))}{flags}"
    reason = f": {row['reason']}" if row["reason"] else ""
    return f"{name}  {row['outcome']}{reason}{flags}"


class ProgressLines:
    """Prints a plain line for each finished process: for logs, pipes and CI; with `in_turns`, also as each starts."""

    def __init__(self, *, in_turns: bool = False, is_check: bool = False) -> None:
        self.units = QuestionUnits()
        self.count = Count()
        self.in_turns = in_turns
        self.is_check = is_check

    def expects(self, attempts: Sequence[Attempt]) -> None:
        """Counts processes that come."""
        self.count.expect(attempts)

    def block_starts(self, number: int, blocks: int, attempts: int) -> None:
        """Prints the number of the block that starts, and how many processes it has."""
        self.note(f"Block {number} of {blocks}: {attempts} processes")

    def attempt_starts(self, attempt: Attempt) -> None:
        """Counts the process; `attempt_ends` prints its line. Of processes that take turns nothing is told until all
        have ended, so that each is named as it starts."""
        self.count.start(attempt)
        if self.in_turns:
            self.note(f"starts  {case_name(attempt.case)}")

    def attempt_ends(self, row: Row) -> None:
        """Prints the line of a finished process: the how manieth of how many it is, what it gave, and about how long
        the rest takes."""
        told = line(row, self.units)
        if self.is_check:  # its times say nothing
            told = told.partition("  first ")[0]
        if not self.count.end(row):
            self.note(told)
            return
        left = self.count.left()
        where = f"{self.count.ended} of {self.count.total}"
        self.note(f"{where}  {told}{f'  ({left})' if left else ''}")

    def note(self, text: str) -> None:
        """Prints a line that belongs to no process."""
        print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Does nothing: plain lines leave nothing to remove from the terminal."""


class ProgressBar:
    """Draws a progress bar with the current case and the time left. It draws only between processes."""

    def __init__(self, console: Console) -> None:
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            auto_refresh=False,
        )
        self.units = QuestionUnits()
        self.count = Count()
        self.task = self.progress.add_task("starting", total=None, left="")
        self.shown = ExitStack()
        self.shown.enter_context(self.progress)
        # What others print goes above the bar by rich's way, which takes control characters for the printer's own.
        self.shown.enter_context(plain_streams())

    def expects(self, attempts: Sequence[Attempt]) -> None:
        """Makes the bar longer by processes that it doesn't have."""
        self.count.expect(attempts)
        self.update()

    def block_starts(self, number: int, blocks: int, attempts: int) -> None:
        """Prints the number of the block that starts."""
        self.note(f"Block {number} of {blocks}")

    def attempt_starts(self, attempt: Attempt) -> None:
        """Shows the case of the process that starts."""
        self.count.start(attempt)
        self.progress.update(self.task, description=escape(printable(case_name(attempt.case))))
        self.update()
        self.progress.refresh()

    def attempt_ends(self, row: Row) -> None:
        """Prints the line of a finished process above the bar."""
        self.count.end(row)
        self.update()
        self.note(line(row, self.units))

    def update(self) -> None:
        """Sets the bar to the count and the time left."""
        self.progress.update(self.task, completed=self.count.ended, total=self.count.total, left=self.count.left())

    def note(self, text: str) -> None:
        """Prints a line that belongs to no process above the bar."""
        self.progress.console.print(printable(text), markup=False, highlight=False, soft_wrap=True)
        self.progress.refresh()

    def close(self) -> None:
        """Stops the bar, so that the terminal is as before."""
        self.shown.close()


def listener(*, in_turns: bool = False, is_check: bool = False) -> ProgressLines | ProgressBar:
    """Returns a progress bar if standard error is a terminal, else plain lines. `in_turns` says that the processes of a
    question take turns, `is_check` that no time is to be shown."""
    # The bar draws with control characters, so it gets the stream behind the one that removes them.
    console = Console(file=unfiltered(sys.stderr))
    return ProgressBar(console) if console.is_terminal else ProgressLines(in_turns=in_turns, is_check=is_check)


def print_table(
    title: str, columns: list[str], rows: Sequence[Sequence[str | Text]], numbers: Collection[str] = ()
) -> None:
    """Prints a table on standard output, as wide as the terminal, or PIPED_WIDTH wide in a pipe or file.

    Columns named in `numbers` are right-aligned. Words stay whole if the table has room for them; long cells wrap. A
    cell that is a `Text` keeps its colours.
    """
    console = Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False)
    title, columns = printable(title), [*map(printable, columns)]
    cells = [[text if isinstance(text, Text) else Text(printable(text)) for text in row] for row in rows]
    table = Table(title=Text(title), title_justify="left", title_style="bold", box=box.SIMPLE_HEAD, show_edge=False)
    plain = [columns, *([cell.plain for cell in row] for row in cells)]
    widths = column_widths(plain, console.width - 3 * len(columns) + 1)
    for column, width in zip(columns, widths, strict=True):
        justify: Literal["left", "right"] = "right" if column in numbers else "left"
        table.add_column(column, justify=justify, overflow="fold", width=width)
    for row in cells:
        table.add_row(*(parted(cell, width) for cell, width in zip(row, widths, strict=True)))
    console.print(table)


def parted(cell: Text, width: int) -> Text:
    """Returns the text with line breaks in words that are wider than the column, each after a separator; rich alone
    would break such a word anywhere."""
    if len(cell) <= width:
        return cell
    breaks = []
    for word in re.finditer(r"\S+", cell.plain):
        line = 0
        for piece in PIECE.finditer(word[0] if len(word[0]) > width else ""):
            if line and line + len(piece[0]) > width:
                breaks.append(word.start() + piece.start())
                line = 0
            line += len(piece[0])
    return Text("\n").join(cell.divide(breaks))


def column_widths(lines: list[list[str]], room: int) -> list[int]:
    """Returns the columns' widths, whose sum is at most `room`: whole cells if they fit, else at least the longest word
    of each column if these fit; else the widest columns get less than their longest word.

    Rich alone would shrink all columns alike, and so break words of narrow columns to give room to long sentences.
    """
    columns = list(zip(*lines, strict=True))
    wanted = [max(map(len, column)) for column in columns]
    widths = [max(len(word) for text in column for word in (*text.split(), "")) for column in columns]
    while sum(widths) > room and max(widths) > 1:
        widths[widths.index(max(widths))] -= 1
    while sum(widths) < min(room, sum(wanted)):
        lacking = [want - width for want, width in zip(wanted, widths, strict=True)]
        widths[lacking.index(max(lacking))] += 1
    return widths
