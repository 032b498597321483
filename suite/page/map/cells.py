"""The cells of a map: the words in a cell, and the strength of its colour, which grows with the distance from 1×.

A map compares stacks (the report) or sets (`./stackwars compare`); both are made of these cells, and
reports/templates/macros/map.html.j2 draws them.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from suite import units
from suite.answers.figures.ratios import SIGNS
from suite.case import OUT_OF_MEMORY, Outcome
from suite.results.case_row import CaseRow
from suite.results.outcomes import WORDS, is_absent, outcome_text
from suite.sets.rows import IMPLAUSIBLE, NOT_RUN
from suite.stats import Estimate, Word

SHADES = (1.05, 1.25, 1.6, 2.5)  # a ratio, or its inverse, over the n-th of these has shade n
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
    in a sentence. `colour` is `f1` to `f4` ahead of the baseline, `s1` to `s4` behind it. `href` is the link to the
    panel behind the cell. `note` is what a reader must know beside the verdict. `leads` says that no stack is shown to
    be faster: the cell is framed. `own` is the stack's own figure of what the map shows, such as its median, which a
    reader sees beside the ratio. `has_modes` says that its processes run in two modes. `of` is the stack whose cell it
    is, where the column has another name.
    """

    kind: str
    words: str
    small: str = ""
    title: str = ""
    colour: str = ""
    note: str = ""
    href: str = ""
    leads: bool = False
    own: str = ""
    has_modes: bool = False
    of: str = ""

    @property
    def verdict(self) -> str:
        """The verdict as a word; empty if `words` already is this word, or without a verdict."""
        return self.kind if self.kind in SIGNS and self.kind not in (self.words, "mean") else ""

    @property
    def sign(self) -> str:
        """The sign beside the words, so that no meaning is in the colour alone."""
        return STATES[self.kind][0] if self.kind in STATES else SIGNS.get(self.kind, "")

    @property
    def is_noted(self) -> bool:
        """Whether it has a note that isn't in the cell itself."""
        return bool(self.note) and self.kind not in ("undecided", "none")

    @property
    def css(self) -> str:
        """Its CSS classes: `faster f3 leads`."""
        others = {"noted": self.is_noted, "modes": self.has_modes, "leads": self.leads}
        return " ".join(filter(None, [self.kind, self.colour, *(name for name, has in others.items() if has)]))


NOTHING = Square("unplanned", "")  # of what wasn't asked


def colour(value: float) -> str:
    """Returns the CSS class of a ratio's colour, as strong for a ratio as for its inverse; empty near 1×."""
    distance = math.exp(abs(math.log(value))) if value > 0 else math.inf
    strength = sum(distance > edge for edge in SHADES)
    return f"{'f' if value > 1 else 's'}{strength}" if strength else ""


def ratio_square(ratio: Estimate, verdict: Word, over: str = "", note: str = "") -> Square:
    """Returns the cell of a ratio with its verdict. `over` ends the sentence on the ratio: ` as fast as numpy`. An
    undecided ratio has the word `undecided` before its size, the reason as its note, and no colour."""
    size, interval = units.ratio(ratio.value, ratio.low, ratio.high), units.interval(ratio.low, ratio.high)
    both = f"{size} {interval}".strip()
    title = f"{verdict}, {both}{over}{f' ({note})' if note else ''}"
    if verdict == "undecided":
        return Square(verdict, verdict, both, title, note=note)
    return Square(verdict, size, interval, title, colour(ratio.value), note)


def state_square(cell: CaseRow) -> Square:
    """Returns the cell of a stack without a time that counts: how it ended, in words, and why."""
    kind = state(cell)
    words = STATES[kind][1] if kind != "failed" else WORDS.get(cell.outcome, cell.outcome)
    return Square(kind, words, title=": ".join(filter(None, [outcome_text(cell), cell.reason])))


def state(cell: CaseRow) -> str:
    """Returns which of STATES a cell without a time that counts is in."""
    if cell.outcome in OUT_OF_MEMORY:
        return "memory"
    if cell.outcome == Outcome.UNSUPPORTED:
        return "absent" if is_absent(cell.reason) else "unable"
    kinds = {Outcome.WRONG: "wrong", IMPLAUSIBLE: "wrong", Outcome.DIFFER: "differ", NOT_RUN: "waiting"}
    return kinds.get(cell.outcome, "failed")
