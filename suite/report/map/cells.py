"""The cells of a map: the words in a cell, and the strength of its colour, which grows with the distance from 1×.

A map compares stacks (the report) or sets (`./stackwars compare`); both are made of these cells, and
reports/templates/macros/map.html.j2 draws them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from suite import units
from suite.case import OUT_OF_MEMORY, Outcome
from suite.results.outcomes import WORDS, Cell, is_absent, outcome_text
from suite.results.speedup.verdicts import Speedup
from suite.sets.rows import IMPLAUSIBLE, NOT_RUN
from suite.stats import Estimate

SHADES = (1.05, 1.25, 1.6, 2.5)  # a ratio, or its inverse, over the n-th of these has shade n
SIGNS = {"faster": "▲", "slower": "▼", "tie": "=", "close": "≈", "undecided": "?", "baseline": "◆", "mean": ""}
# {kind: (sign, words)} of a cell without a ratio. A kind is a CSS class, too.
STATES = {
    "memory": ("▣", "out of memory"),
    "wrong": ("✕", "wrong"),
    "differ": ("✕", "results differ"),
    "failed": ("✕", "failed"),
    "absent": ("○", "not installed here"),
    "unable": ("–", "unsupported"),
    "waiting": ("…", "not run"),
    "unplanned": ("", ""),
}


@dataclass(frozen=True, slots=True)
class Square:
    """One cell of a map.

    `kind` is a verdict, `baseline`, `mean`, `measured` (a ratio without a verdict), `steps` (a break-even), `none`
    (nothing to show), or one of STATES. `words` come first, `small` is the small print below, and `title` says it all
    in a sentence. `shade` is the strength of the colour, 0 (none) to 4; `is_more` says which colour: whether the stack
    is ahead of the baseline. `href` is the link to the panel behind the cell; empty without a panel. `note` is what a
    reader must know beside the verdict. `leads` says that no stack is shown to be faster: the cell is framed.
    `own` is the stack's own figure of what the map shows, such as its median, which a narrow screen shows beside the
    ratio. `has_modes` says that its processes run in two modes.
    """

    kind: str
    words: str
    small: str = ""
    title: str = ""
    shade: int = 0
    is_more: bool = True
    href: str = ""
    note: str = ""
    leads: bool = False
    own: str = ""
    has_modes: bool = False

    @property
    def verdict(self) -> str:
        """Returns the verdict as a word; empty if `words` already is this word, or without a verdict."""
        return self.kind if self.kind in SIGNS and self.kind not in (self.words, "mean") else ""

    @property
    def sign(self) -> str:
        """Returns the sign beside the words, so that no meaning is in the colour alone."""
        return STATES[self.kind][0] if self.kind in STATES else SIGNS.get(self.kind, "")

    @property
    def is_noted(self) -> bool:
        """Whether it has a note that isn't in the cell itself."""
        return bool(self.note) and self.kind not in ("undecided", "none")

    @property
    def starred(self) -> bool:
        """Whether a star stands in the cell."""
        return self.is_noted or self.has_modes

    @property
    def css(self) -> str:
        """Returns its CSS classes: `faster f3`, say."""
        colour = f"{'f' if self.is_more else 's'}{self.shade}" if self.shade else ""
        noted = "noted" if self.is_noted else ""
        modes = "modes" if self.has_modes else ""
        return " ".join(filter(None, [self.kind, colour, noted, modes, "leads" if self.leads else ""]))


def shade(value: float) -> int:
    """Returns the strength of a ratio's colour: 0 near 1×, 4 far from it, alike for a ratio and its inverse."""
    distance = math.exp(abs(math.log(value))) if value > 0 else math.inf
    return sum(distance > edge for edge in SHADES)


def verdict_square(speedup: Speedup, where: str, href: str = "") -> Square:
    """Returns the cell of a ratio with its verdict; `where` names the cell, like `jax_jit on gemm forward`. An
    undecided ratio has the word `undecided` before its size, and no colour."""
    ratio, word = speedup.ratio, speedup.verdict
    size, interval = units.ratio(ratio.value, ratio.low, ratio.high), units.interval(ratio.low, ratio.high)
    known = speedup.why or speedup.note
    aside = f" ({known})" if known else ""
    title = f"{where}: {word}, {f'{size} {interval}'.strip()} as fast as {speedup.baseline}{aside}"
    if word == "undecided":
        return Square(word, word, f"{size} {interval}".strip(), title, href=href, note=speedup.why)
    return Square(word, size, interval, title, shade(ratio.value), ratio.value > 1, href, speedup.note)


def mean_square(mean: Estimate | None, counted: str, title: str) -> Square:
    """Returns the cell of a geometric mean, which has an interval but no verdict. `counted` says over how many of
    the stack's questions it is, `6 of 8`."""
    if mean is None:
        return Square("mean", units.UNKNOWN, counted, title)
    interval = units.interval(mean.low, mean.high)
    colour = shade(mean.value) if interval and not (mean.low or 0) <= 1 <= (mean.high or 0) else 0
    size = units.ratio(mean.value, mean.low, mean.high)
    return Square("mean", size, f"{interval} {counted}".strip(), title, colour, mean.value > 1)


def state_square(cell: Cell | None, where: str, href: str = "") -> Square:
    """Returns the cell of a stack without a time that counts: how it ended, in words, and why."""
    if cell is None:
        return Square("unplanned", "", title=f"{where}: not planned")
    kind = state(cell)
    words = STATES[kind][1] if kind != "failed" else WORDS.get(cell.outcome, cell.outcome)
    reason = f": {cell.reason}" if cell.reason else ""
    return Square(kind, words, title=f"{where}: {outcome_text(cell)}{reason}", href=href)


def state(cell: Cell) -> str:
    """Returns which of STATES a cell without a time that counts is in."""
    if cell.outcome in OUT_OF_MEMORY:
        return "memory"
    if cell.outcome in (Outcome.WRONG, IMPLAUSIBLE):
        return "wrong"
    if cell.outcome == Outcome.DIFFER:
        return "differ"
    if cell.outcome == NOT_RUN:
        return "waiting"
    if cell.outcome == Outcome.UNSUPPORTED:
        return "absent" if is_absent(cell.reason) else "unable"
    return "failed"
