"""Shows a run's progress on standard error, as a bar on a terminal and as a plain line for each process elsewhere.
Nothing is drawn while a process is being measured."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from functools import partial
from statistics import median
from time import monotonic

from rich.console import Console, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.text import Text

from suite import units
from suite.answers.sentences import listed
from suite.case import Attempt, Flag, Outcome, Purpose
from suite.cli.terminal.streams import plain_streams, unfiltered
from suite.guard.printable import printable
from suite.results.questions.programs import stack_programs
from suite.sets.rows import ProcessKey, Row
from suite.stacks.names import case_name
from suite.stats import reach
from suite.verdicts.looks import Standing

WORDS = {  # begin the line of a process outside the blocks
    Purpose.EXPLAIN: "kernels",
    Purpose.MEMORY: "memory",
    Purpose.IR: "programs",
    Purpose.PREDICT: "predicted",
    Purpose.PROFILE: "profile",
    Purpose.PROBE: "probe",
}


def line(row: Row) -> str:
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
        plain = units.seconds(profile["plain_seconds"])
        return f"{name}  {units.seconds(profile['seconds'])}, {plain} without profiler"
    if row["outcome"] != Outcome.OK:
        reason = f": {row['reason']}" if row["reason"] else ""
        return f"{name}  {row['outcome']}{reason}{flags}"
    match row["purpose"]:
        case Purpose.PROBE:
            seen = (f"{each['aspect']} {each['class']}" for each in row.entries("behaviour"))
            return f"{name}  {', '.join(seen)}"
        case Purpose.IR:
            unread = stack_programs(row).unread
            return f"{name}  {len(row.entries('programs'))} kept{f'; {unread}' if unread else ''}"
        case Purpose.PREDICT:
            prediction = row.mapping("prediction")
            room = f"{units.quantity(prediction['needed_bytes'])} of {units.quantity(prediction['device_bytes'])}"
            return f"{name}  fits, {room}, compiled in {units.seconds(row['compile_seconds'])}"
        case Purpose.MEMORY:
            return f"{name}  fits, peak {units.quantity(row.peak_bytes)}"
    if not samples:
        return f"{name}  ok{flags}"
    first = units.seconds(row.number("first_seconds"))
    return f"{name}  ok  first {first}, steady {units.seconds(median(samples))}{flags}"


def standing_line(one: Standing) -> str:
    """Returns how a question stands: its stacks, the fastest first, which aren't sure yet, and the widest interval of
    these."""
    told = f"{one.name}, fastest first: {', '.join(one.order)}"
    if not one.unsure:
        return f"{told}; sure"
    widest = max(one.unsure, key=lambda speedup: reach(speedup.ratio) or math.inf)
    ratio = widest.ratio
    interval = units.estimate(ratio.value, ratio.low, ratio.high)
    return f"{told}; not yet sure: {listed([each.stack for each in one.unsure])} ({widest.stack} {interval})"


class Count:
    """The processes that have ended, and those that are known to come. A process that nobody announced, as one of a
    search, is known once it starts."""

    def __init__(self) -> None:
        self.ended = 0
        self.to_come: set[ProcessKey] = set()
        self.running: set[ProcessKey] = set()
        self.started: float | None = None  # when the first process started
        self.seconds_each: float | None = None

    def expect(self, attempts: Iterable[Attempt]) -> None:
        """Adds processes that come; those that are known to come aren't counted twice."""
        self.to_come.update(attempt.key[:4] for attempt in attempts)

    def start(self, attempt: Attempt) -> None:
        """Counts a process that starts among those to come, until it ends."""
        self.started = monotonic() if self.started is None else self.started
        self.expect([attempt])
        self.running.add(attempt.key[:4])

    def end(self, row: Row) -> bool:
        """Counts a process that has ended. False for a row that is of no further process, such as a verdict on one that
        has ended before."""
        if row.place not in self.to_come:
            return False
        self.to_come.remove(row.place)
        self.running.discard(row.place)
        self.ended += 1
        if self.started is not None:  # those still running took turns with it, so the time so far is theirs too
            self.seconds_each = (monotonic() - self.started) / (self.ended + len(self.running))
        return True

    @property
    def total(self) -> int:
        return self.ended + len(self.to_come)

    def left(self) -> str:
        """Returns about how long the processes that haven't started take, by the mean time of one so far: `about 12 s
        left`. Empty if that isn't known, and if all have started."""
        waiting = len(self.to_come - self.running)
        return f"about {units.duration(self.seconds_each * waiting)} left" if self.seconds_each and waiting else ""


class ProgressLines:
    """Prints a plain line for each finished process: for logs, pipes and CI. `in_turns` says that the processes of a
    question take turns, so that nothing is told of one until all have ended: each is named as it starts. `is_check`
    says that times mean nothing."""

    def __init__(self, *, in_turns: bool = False, is_check: bool = False) -> None:
        self.count = Count()
        self.in_turns = in_turns
        self.is_check = is_check

    def expects(self, attempts: Sequence[Attempt]) -> None:
        self.count.expect(attempts)

    def block_starts(self, number: int, blocks: int, attempts: int) -> None:
        """Says which block of how many starts; 0 `blocks` are as many as it takes."""
        self.note(f"Block {number}{f' of {blocks}' if blocks else ''}: {attempts} processes")

    def stands(self, block: int, standings: Sequence[Standing]) -> None:
        for one in standings:
            self.note(f"After block {block}: {standing_line(one)}")

    def attempt_starts(self, attempt: Attempt) -> None:
        self.count.start(attempt)
        if self.in_turns:
            self.note(f"starts  {case_name(attempt.case)}")

    def attempt_ends(self, row: Row) -> None:
        """Prints the line of a finished process: the how manieth of how many it is, what it gave, and about how long
        the rest takes."""
        told = self.told(row)
        if self.count.end(row):
            left = self.count.left()
            told = f"{self.count.ended} of {self.count.total}  {told}{f'  ({left})' if left else ''}"
        self.note(told)

    def told(self, row: Row) -> str:
        return line(row).partition("  first ")[0] if self.is_check else line(row)

    def note(self, text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    def close(self) -> None:
        """Does nothing: plain lines leave nothing to remove from the terminal."""


class StandingProgress(Progress):
    """A bar, and below it a line for each question, which the next block replaces."""

    lines: Sequence[str] = ()

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        yield from map(Text, self.lines)


class ProgressBar(ProgressLines):
    """Draws a progress bar with the current case and the time left, and prints all lines above it. It draws only
    between processes."""

    def __init__(self, console: Console, **kind: bool) -> None:
        super().__init__(**kind)
        columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TextColumn("{task.fields[left]}")
        self.progress = StandingProgress(*columns, console=console, auto_refresh=False)
        self.task = self.progress.add_task("starting", total=None, left="")
        self.shown = ExitStack()
        self.shown.enter_context(self.progress)
        # What others print goes above the bar by rich's way, which takes control characters for the printer's own.
        self.shown.enter_context(plain_streams())

    def expects(self, attempts: Sequence[Attempt]) -> None:
        super().expects(attempts)
        self.update()

    def attempt_starts(self, attempt: Attempt) -> None:
        self.count.start(attempt)
        self.progress.update(self.task, description=escape(printable(case_name(attempt.case))))
        self.update()
        self.progress.refresh()

    def attempt_ends(self, row: Row) -> None:
        self.count.end(row)
        self.update()
        self.note(self.told(row))

    def stands(self, block: int, standings: Sequence[Standing]) -> None:
        self.progress.lines = [printable(standing_line(one)) for one in standings]

    def update(self) -> None:
        self.progress.update(self.task, completed=self.count.ended, total=self.count.total, left=self.count.left())

    def note(self, text: str) -> None:
        self.progress.console.print(printable(text), markup=False, highlight=False, soft_wrap=True)
        self.progress.refresh()

    def close(self) -> None:
        """Stops the bar, so that the terminal is as before."""
        self.shown.close()


def listener(*, in_turns: bool = False, is_check: bool = False) -> ProgressLines:
    """Returns a progress bar if standard error is a terminal, else plain lines."""
    # The bar draws with control characters, so it gets the stream behind the one that removes them.
    console = Console(file=unfiltered(sys.stderr))
    shown = partial(ProgressBar, console) if console.is_terminal else ProgressLines
    return shown(in_turns=in_turns, is_check=is_check)
