"""What a reader must know before believing a number: the notices, and the badge of trust that follows from them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

from suite import units
from suite.answers.noise import WIDE_FLOOR, WIDE_INTERVALS, Reading, exceeded
from suite.answers.sentences import counted
from suite.case import Flag, Outcome
from suite.errors import COMMAND
from suite.page.sections.timed.headlines import standing_in
from suite.results.analysis import Analysis, Comparison
from suite.sets.plan import PlanFile
from suite.sets.rows import IMPLAUSIBLE
from suite.stats import is_doubtful

CAUSES_MOST = 2  # on the badge; more are counted
QUIET = "No reading of noise is over its limit."
OF_FIGURES = {WIDE_INTERVALS, WIDE_FLOOR}  # causes that the set's own figures show, and no reading of the machine


class Trust(StrEnum):
    """The words of the page's badge, the best first."""

    QUIET = "quiet"
    RESTLESS = "restless"
    WEAK = "weak"


@dataclass(frozen=True, slots=True)
class Notice:
    """One notice. A set with it is trusted at most as far as `trust` says, and `cause` names why in a few words; a
    notice that says nothing of that leaves the set `quiet` and has no cause."""

    text: str
    trust: Trust = Trust.QUIET
    cause: str = ""


@dataclass(frozen=True, slots=True)
class Account:
    """What the badge says, and the notices that it opens, which it counts. The notices that decide its word come
    first. `is_decided`: no ratio is undecided."""

    notices: tuple[Notice, ...]
    is_decided: bool = False

    @property
    def word(self) -> Trust:
        return max((notice.trust for notice in self.notices), key=[*Trust].index, default=Trust.QUIET)

    @property
    def deciding(self) -> list[Notice]:
        """The notices that decide the word; none if the set is quiet."""
        return [notice for notice in self.notices if notice.cause and notice.trust == self.word]

    @property
    def causes(self) -> str:
        """Why the set isn't quiet, for the badge: `wide intervals, other programs, 2 more`; empty if it is."""
        names = list(dict.fromkeys(notice.cause for notice in self.deciding))
        more = [f"{len(names) - CAUSES_MOST} more"] if len(names) > CAUSES_MOST else []
        return ", ".join([*names[:CAUSES_MOST], *more])

    @property
    def counted(self) -> str:
        """How many notices the badge opens; empty if none."""
        return counted(len(self.notices), "notice") if self.notices else ""

    @property
    def reason(self) -> str:
        """What follows for the reader, and from which of the notices, which stand below it."""
        number, first = len(self.notices), len(self.deciding)
        every = "this notice" if number == 1 else f"these {number} notices"
        if self.word == Trust.QUIET:
            others = f" Besides, there {'is' if number == 1 else 'are'} {every}:" if number else ""
            return f"{QUIET}{others}"
        which = every if first == number else f"the first {f'{first} ' if first > 1 else ''}of {every}"
        if self.word == Trust.WEAK:
            return f"This set can't carry firm verdicts because of {which}, so read why before you quote a number:"
        alone = {notice.cause for notice in self.deciding} <= OF_FIGURES
        quiet = "No reading of the machine is over its limit. " if alone else ""
        decided = "Every ratio is decided; smaller differences couldn't be shown"
        return f"{quiet}{decided if self.is_decided else 'Small differences may stay undecided'} because of {which}:"


def account(
    analysis: Analysis,
    file: PlanFile | None,
    noise: Iterable[Reading],
    *,
    modified: bool = False,
    cut_short: bool = False,
    differences: Sequence[str] = (),
) -> Account:
    """Returns the badge with all notices: first those that make a set weak, then those that make it restless, one for
    each reading over its limit, then the others. `noise` has the readings of the set's noise, `modified` says whether
    the source had uncommitted changes, `cut_short` whether the run ended before it was whole, and `differences` are
    sentences on builds that differ between environments."""
    verdicts = {speedup.verdict for speedup in analysis.speedups}
    restless = [Notice(reading.notice, Trust.RESTLESS, reading.cause) for reading in exceeded(noise)]
    others = [
        *hidden(analysis),
        *wrong(analysis.comparisons),
        *filter(None, map(standing_in, analysis.comparisons)),
        *(["The source was modified when this set was measured; the change is archived with it."] * modified),
        *differences,
    ]
    told = (*weak(analysis, file, cut_short=cut_short), *restless, *map(Notice, others))
    return Account(told, is_decided=bool(verdicts) and "undecided" not in verdicts)


def weak(analysis: Analysis, file: PlanFile | None, *, cut_short: bool) -> Iterator[Notice]:
    if file and (analysis.not_run or cut_short):
        yield Notice(incomplete(analysis.not_run, file), Trust.WEAK, "an unfinished run")
    for comparison in analysis.comparisons:  # all questions are one family
        noise = comparison.noise
        if noise and is_doubtful(noise.ratio, analysis.protocol.confidence):
            shown = units.estimate(noise.ratio.value, noise.ratio.low, noise.ratio.high)
            text = (
                f"Doubt the verdicts of {comparison.name}: {noise.stack} against itself (A/A) is {shown}, "
                "so equal processes differ by as much."
            )
            yield Notice(text, Trust.WEAK, "a stack that differs from itself")
    if len(analysis.blocks) == 1:
        yield Notice("One block only: no interval exists and every verdict is undecided.", Trust.WEAK, "one block")
    if any(Flag.UNPINNED in row.flags for row in analysis.counted):
        text = "Some environments were not installed from the lock files (unpinned)."
        yield Notice(text, Trust.WEAK, "unpinned environments")


def incomplete(number: int, file: PlanFile) -> str:
    """Returns how many planned processes have no row, and how to run them; or, if all have one, how to run the rest."""
    if file.collected:
        return (
            "This set was collected from several runs, each of which did part of the plan. "
            f"{number} planned processes have no result in any of them."
        )
    lacks = f"{number} planned processes have no result yet" if number else "this is the answer of its blocks so far"
    return (
        f"This run is not complete: {lacks}. "
        f"To complete it: {COMMAND} run --resume={shlex.quote(f'results/{file.plan.set_id}')}"
    )


def hidden(analysis: Analysis) -> Iterator[str]:
    """Yields the stacks and the questions that the reader left out."""
    if analysis.hidden:
        yield (
            f"Left out on request: {', '.join(analysis.hidden)}. Speedups, intervals and geometric means are "
            "those of the whole set; an answer names the fastest of the stacks that are shown."
        )
    if analysis.hidden_comparisons:
        number = len(analysis.all_comparisons)
        yield (
            f"Left out on request: {len(analysis.hidden_comparisons):,} of {number:,} questions. Intervals and "
            "geometric means are those of the whole set."
        )


def wrong(comparisons: Iterable[Comparison]) -> Iterator[str]:
    """Yields the stacks that failed the equivalence gate, then those whose times can't be."""
    for outcome, words in (
        (Outcome.WRONG, "Wrong results"),
        (Outcome.DIFFER, "Results that differ, and nothing says which is right"),
        (IMPLAUSIBLE, "Times that can't be"),
    ):
        for comparison in comparisons:
            stacks = [cell.stack for cell in comparison.cases if cell.outcome == outcome]
            if stacks:
                yield f"{words}, left out of every ratio: {', '.join(stacks)} in {comparison.name}."
