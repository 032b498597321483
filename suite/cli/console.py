"""What a person sees while a run goes on: a progress bar on a terminal, a plain line per case elsewhere.

Everything goes to standard error; nothing is drawn while a process is being measured.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Collection
from statistics import median
from time import monotonic
from typing import Literal

from rich import box
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from suite import units
from suite.case import Attempt, Outcome, Purpose
from suite.guard.printable import printable
from suite.results.store.rows import Row

PIPED_WIDTH = 160
PIECE = re.compile(r"[^-/,]*[-/,]?")  # of a name, up to the separator after which it may go on in the next line
WORDS = {
    Purpose.EXPLAIN: "kernels",
    Purpose.MEMORY: "memory",
    Purpose.IR: "programs",
    Purpose.PROFILE: "profile",
    Purpose.PROBE: "probe",
}


def line(row: Row) -> str:
    """One finished case: its name, what came of it, and the steady median or the peak of memory."""
    twin = " (A/A twin)" if row["replicate"] > 1 else ""
    where = f"block {row['block']}" if row["block"] else WORDS[row["purpose"]]
    name = f"{where}  {row['case_name']}{twin}"
    kept = row.steady
    flags = f"  [{', '.join(row['flags'])}]" if row["flags"] else ""
    if row.kernels:
        return f"{name}  {row.kernels}"
    if told := row.mapping("profile"):
        return f"{name}  {units.seconds(told['seconds'])}, {units.seconds(told['plain_seconds'])} without profiler"
    if row["purpose"] == Purpose.PROBE and row["outcome"] == Outcome.OK:
        return f"{name}  {', '.join(' '.join((e['aspect'], e['class'])) for e in row.entries('behaviour'))}"
    if row["purpose"] == Purpose.IR and row["outcome"] == Outcome.OK:
        return f"{name}  {len(row.entries('programs'))} kept"
    if row["purpose"] == Purpose.MEMORY and row["outcome"] == Outcome.OK:
        return f"{name}  fits, peak {units.quantity(row.peak_bytes)}"
    if row["outcome"] == Outcome.OK and kept:
        return f"{name}  ok  first {units.seconds(row['first_seconds'])}, steady {units.seconds(median(kept))}{flags}"
    reason = f": {row['reason']}" if row["reason"] else ""
    return f"{name}  {row['outcome']}{reason}{flags}"


class Lines:
    """A plain line per finished case: for logs, pipes and CI."""

    def __init__(self) -> None:
        self.done = 0

    def block_starts(self, number: int, blocks: int, attempts: int) -> None:
        """Say which block begins."""
        self.note(f"Block {number} of {blocks}: {attempts} processes")

    def attempt_starts(self, attempt: Attempt) -> None:
        """Nothing: the line comes at the end."""

    def attempt_ends(self, row: Row) -> None:
        """The line."""
        self.note(line(row))

    def note(self, text: str) -> None:
        """Any other line."""
        print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Nothing is open."""


class Bar:
    """A progress bar with the current case and the time left, redrawn between processes only."""

    def __init__(self, total: int, console: Console) -> None:
        self.progress = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[left]}"),
            console=console,
            auto_refresh=False,
        )
        self.task = self.progress.add_task("starting", total=total, left="")
        self.started = monotonic()
        self.progress.start()

    def block_starts(self, number: int, blocks: int, attempts: int) -> None:
        """A line above the bar; more blocks than planned make the bar longer."""
        self.note(f"Block {number} of {blocks}")
        task = self.progress.tasks[0]
        self.progress.update(self.task, total=max(task.total or 0, task.completed + attempts))

    def attempt_starts(self, attempt: Attempt) -> None:
        """The current case."""
        self.progress.update(self.task, description=printable(attempt.case.case_name), refresh=True)

    def attempt_ends(self, row: Row) -> None:
        """A line above the bar, and the time left by the mean so far."""
        self.progress.advance(self.task)
        task = self.progress.tasks[0]
        left = (monotonic() - self.started) / task.completed * ((task.total or 0) - task.completed)
        self.progress.update(self.task, left=f"about {units.duration(left)} left")
        self.note(line(row))

    def note(self, text: str) -> None:
        """Any other line above the bar."""
        self.progress.console.print(printable(text), markup=False, highlight=False, soft_wrap=True)
        self.progress.refresh()

    def close(self) -> None:
        """Leave the terminal as it was."""
        self.progress.stop()


def listener(total: int) -> Lines | Bar:
    """A bar on a terminal, lines elsewhere."""
    console = Console(stderr=True)
    return Bar(total, console) if console.is_terminal else Lines()


def print_table(
    title: str, columns: list[str], rows: list[list[str]], numbers: Collection[str] = (), markup: bool = False
) -> None:
    """A table on standard output, fitting the terminal or not: nothing is cut when piped.

    Columns named in `numbers` are right-aligned. Words stay whole where the terminal has room for them; `markup`
    says that cells may have rich's colours.
    """
    console = Console(width=None if sys.stdout.isatty() else PIPED_WIDTH, highlight=False)
    title, columns = printable(title), [*map(printable, columns)]
    lines = [[*map(printable, row)] for row in rows]
    cells = [[Text.from_markup(text) if markup else Text(text) for text in row] for row in lines]
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
    """The text with its long names broken after separators, where a name is wider than the column; rich breaks them
    anywhere."""
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
    """Widths that fill no more than `room`: whole cells if they fit, else whole words as far as they do.

    Rich's own way shrinks every column alike, and breaks the words of the narrow ones for the sake of prose.
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
