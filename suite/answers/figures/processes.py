"""The processes of one stack on one question: their medians, block by block, and the samples of each."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

from suite import units
from suite.answers.figures.axes import LogAxis, Places
from suite.answers.figures.times import kind_of
from suite.results.case_row import CaseRow
from suite.sets.rows import Row

PLOT_TOP, PLOT_HEIGHT = 6, 80  # of the plot of processes, in pixels
LINE, TEXT_DOWN = 13, 4  # of its text, in pixels: a line's height, and its foot under its middle
HIGH = 100  # the height of a run plot, in its own units


class Mark(NamedTuple):
    """A process: its place in percent, y from the top, its kind, and its words for a screen reader."""

    x: float
    y: float
    kind: str
    title: str


@dataclass(frozen=True, slots=True)
class RunPlot:
    """The samples of one process in order: the area between the least and the greatest of each column, the line of
    medians, and how many columns are warm-up. The plot is `width` by HIGH."""

    title: str
    area: str
    line: str
    width: int
    warmup: int


def marks(figures: CaseRow, axis: LogAxis, unit: units.Unit) -> tuple[Mark, ...]:
    """Returns a mark for each process: its block across, its median up."""
    blocks = Places(sorted({process.block for process in figures.processes}))
    return tuple(
        Mark(
            round(blocks.percent(blocks.names.index(process.block)), 1),
            round(100 - axis.percent(process.seconds), 1),
            kind_of(process, counts=figures.counts),
            f"block {process.block}: {unit(process.seconds)}",
        )
        for process in figures.processes
    )


def ends(seconds: Sequence[float], axis: LogAxis, unit: units.Unit) -> tuple[tuple[float, str], ...]:
    """Returns the least and the greatest of the processes' medians, in pixels from the top of their plot and in words:
    each is written beside its mark, and a line's height apart from the other."""
    least, most = min(seconds), max(seconds)
    low, high = (PLOT_TOP + PLOT_HEIGHT * (1 - axis.percent(end) / 100) + TEXT_DOWN for end in (least, most))
    if unit(least) == unit(most):
        return ((round((low + high) / 2, 1), unit(least)),)
    apart = max(0.0, LINE - (low - high)) / 2
    return (round(low + apart, 1), unit(least)), (round(high - apart, 1), unit(most))


def run_plot(row: Row, span: LogAxis, most: int, unit: units.Unit) -> RunPlot:
    """Returns the plot of one process's samples, warm-up included, in at most so many columns. Its places are whole
    numbers, so that it takes less than 4 KB."""
    samples: Sequence[float] = row["synced_seconds"]
    size = math.ceil(len(samples) / most)
    columns = [samples[begin : begin + size] for begin in range(0, len(samples), size)]

    def place(seconds: float) -> int:
        return round(HIGH - span.percent(seconds))

    top = [f"{x} {place(max(column))}" for x, column in enumerate(columns)]
    bottom = [f"{x} {place(min(column))}" for x, column in enumerate(columns)]
    return RunPlot(
        title=f"block {row['block']}{', A/A twin' if row['replicate'] > 1 else ''}: {len(samples)} samples, "
        f"{unit(min(samples))} to {unit(max(samples))}",
        area=f"M{'L'.join([*top, *reversed(bottom)])}Z",
        line=" ".join(f"{x},{place(median(column))}" for x, column in enumerate(columns)),
        width=max(1, len(columns) - 1),
        warmup=math.ceil((row["synced_warmup"] or 0) / size),
    )
