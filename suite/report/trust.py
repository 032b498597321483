"""How far a set can be trusted, in one word and a sentence, by its notices."""

from __future__ import annotations

from dataclasses import dataclass

from suite.answers.noise import WIDE_FLOOR, WIDE_INTERVALS
from suite.report.notices import Notice, Trust

CAUSES_MOST = 2  # on the badge; more are counted

QUIET = "No noise of the machine kept a ratio from being decided."


@dataclass(frozen=True, slots=True)
class Account:
    """What the badge says, and the notices that it opens, which it counts. The notices that decide its word come
    first."""

    notices: tuple[Notice, ...]

    @property
    def word(self) -> Trust:
        """Returns the word of the gravest notice."""
        return max((notice.trust for notice in self.notices), key=[*Trust].index, default=Trust.QUIET)

    @property
    def deciding(self) -> tuple[Notice, ...]:
        """Returns the notices that decide the word; none if the set is quiet."""
        return tuple(notice for notice in self.notices if notice.cause and notice.trust == self.word)

    @property
    def causes(self) -> str:
        """Returns why the set isn't quiet, for the badge: `wide intervals, other programs, 2 more`; empty if it is."""
        names = list(dict.fromkeys(notice.cause for notice in self.deciding))
        more = [f"{len(names) - CAUSES_MOST} more"] if len(names) > CAUSES_MOST else []
        return ", ".join([*names[:CAUSES_MOST], *more])

    @property
    def counted(self) -> str:
        """Returns how many notices the badge opens, `3 notices`; empty if none."""
        number = len(self.notices)
        return f"{number} notice{'s' if number > 1 else ''}" if number else ""

    @property
    def of_figures(self) -> str:
        """Returns that what makes the set restless are its own figures; empty if some reading of the machine does."""
        if {notice.cause for notice in self.deciding} <= {WIDE_INTERVALS, WIDE_FLOOR}:
            return ", by the set's own figures alone (no reading of the machine is over its limit)"
        return ""

    @property
    def reason(self) -> str:
        """Returns what follows for the reader, and from which of the notices, which stand below it."""
        number = len(self.notices)
        every = "this notice" if number == 1 else f"these {number} notices"
        if self.word == Trust.QUIET:
            others = f" On other things, there {'is' if number == 1 else 'are'} {every}:" if number else ""
            return f"{QUIET}{others}"
        first = len(self.deciding)
        which = every if first == number else f"the first {f'{first} ' if first > 1 else ''}of {every}"
        if self.word == Trust.RESTLESS:
            return f"Small differences may stay undecided because of {which}{self.of_figures}:"
        return f"This set can't carry firm verdicts because of {which}, so read why before you quote a number:"
