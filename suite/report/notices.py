"""The notices at the top of the page and of exports: what a reader must know before believing a number. `trust` derives
the page's badge from them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from suite import units
from suite.answers.noise import WIDE_FLOOR, WIDE_INTERVALS, Reading, exceeded
from suite.case import Flag, Outcome
from suite.errors import COMMAND
from suite.report.sections.timed.headlines import standing_in
from suite.results.analysis import Analysis, Comparison
from suite.sets.plan import PlanFile
from suite.sets.rows import IMPLAUSIBLE
from suite.stats import is_doubtful


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


def notices(
    analysis: Analysis,
    file: PlanFile | None,
    noise: Iterable[Reading],
    *,
    modified: bool = False,
    differences: Sequence[str] = (),
) -> tuple[Notice, ...]:
    """Returns all notices: first those that make a set weak, then those that make it restless, then the others. Wide
    intervals make a set restless only if some ratio is undecided. `noise` has the readings of the set's noise,
    `modified` says whether the source had uncommitted changes, and `differences` are sentences on builds that differ
    between environments."""
    verdicts = {speedup.verdict for speedup in analysis.speedups}
    is_open = "undecided" in verdicts or not verdicts  # else noise changed nothing
    read = [Notice(reading.notice, Trust.RESTLESS, reading.cause) for reading in exceeded(noise)]
    weak = (
        ("an unfinished run", incomplete(analysis, file)),
        ("a stack that differs from itself", doubtful(analysis)),
        ("one block", one_block(analysis)),
        ("unpinned environments", unpinned(analysis)),
    )
    others = (
        *hidden(analysis),
        *wrong(analysis.comparisons),
        *filter(None, map(standing_in, analysis.comparisons)),
        *changed_source(modified),
        *differences,
    )
    return (
        *(Notice(text, Trust.WEAK, cause) for cause, texts in weak for text in texts),
        *(Notice(it.text) if it.cause in (WIDE_INTERVALS, WIDE_FLOOR) and not is_open else it for it in read),
        *map(Notice, others),
    )


def hidden(analysis: Analysis) -> Iterable[str]:
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


def incomplete(analysis: Analysis, file: PlanFile | None) -> Iterable[str]:
    """Yields how many planned processes have no row, and how to run them."""
    if analysis.not_run and file and file.collected:
        yield (
            "This set was collected from several runs, each of which did part of the plan. "
            f"{analysis.not_run} planned processes have no result in any of them."
        )
    elif analysis.not_run and file:
        yield (
            f"This run is not complete: {analysis.not_run} planned processes have no result yet. "
            f"To run them: {COMMAND} run --resume={shlex.quote(f'results/{file.plan.set_id}')}"
        )


def wrong(comparisons: Iterable[Comparison]) -> Iterable[str]:
    """Yields the stacks that failed the equivalence gate, then those that were faster than the machine can be."""
    for outcome, words in (
        (Outcome.WRONG, "Wrong results"),
        (Outcome.DIFFER, "Results that differ, and nothing says which is right"),
        (IMPLAUSIBLE, "Faster than the machine can be"),
    ):
        for comparison in comparisons:
            stacks = [cell.stack for cell in comparison.cells if cell.outcome == outcome]
            if stacks:
                yield f"{words}, left out of every ratio: {', '.join(stacks)} in {comparison.name}."


def doubtful(analysis: Analysis) -> Iterable[str]:
    """Yields the questions on which a stack differs from itself by more than chance. All questions are one family."""
    for comparison in analysis.comparisons:
        noise = comparison.noise
        if noise and is_doubtful(noise.ratio, analysis.protocol.confidence):
            shown = units.estimate(noise.ratio.value, noise.ratio.low, noise.ratio.high)
            yield (
                f"Doubt the verdicts of {comparison.name}: {noise.stack} against itself (A/A) is {shown}, "
                "so equal processes differ by as much."
            )


def one_block(analysis: Analysis) -> Iterable[str]:
    """Yields that one block has no interval."""
    if len(analysis.blocks) == 1:
        yield "One block only: no interval exists and every verdict is undecided."


def unpinned(analysis: Analysis) -> Iterable[str]:
    """Yields that an environment wasn't made from its lock."""
    if any(Flag.UNPINNED in row.flags for row in analysis.counted):
        yield "Some environments were not installed from the lock files (unpinned)."


def changed_source(modified: bool) -> Iterable[str]:
    """Yields that the source had uncommitted changes."""
    if modified:
        yield "The source was modified when this set was measured; the change is archived with it."
