"""The notices at the top of the page and of exports: what a reader must know before believing a number. `trust` derives
the page's badge from some of them."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from suite import units
from suite.case import Flag, Outcome
from suite.errors import COMMAND
from suite.report.sections.timed.headlines import standing_in
from suite.report.sections.whole_set.environment import BlockRecord
from suite.results.analysis import Analysis, Comparison
from suite.results.store.plan_file import PlanFile
from suite.results.store.rows import IMPLAUSIBLE
from suite.stats import FLOOR_MAX, is_doubtful, reach


def notices(
    analysis: Analysis, file: PlanFile | None, records: Sequence[BlockRecord], modified: bool
) -> tuple[str, ...]:
    """Returns all notices, the gravest first. `modified` says whether the source had uncommitted changes."""
    return (
        *hidden(analysis),
        *incomplete(analysis, file),
        *wrong(analysis.comparisons),
        *filter(None, map(standing_in, analysis.comparisons)),
        *noisy(records),
        *doubtful(analysis),
        *out_of_reach(analysis),
        *one_block(analysis),
        *unpinned(analysis),
        *changed_source(modified),
    )


def hidden(analysis: Analysis) -> Iterable[str]:
    """Yields the stacks and the questions that the reader left out."""
    if analysis.hidden:
        yield (
            f"Left out on request: {', '.join(analysis.hidden)}. Speedups, intervals and geometric means are "
            "those of the whole set; an answer names the fastest of the stacks that are shown."
        )
    if analysis.left_out:
        number = len(analysis.comparisons) + analysis.left_out
        yield (
            f"Left out on request: {analysis.left_out:,} of {number:,} questions. Intervals and geometric means "
            "are those of the whole set."
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
    for outcome, words in ((Outcome.WRONG, "Wrong results"), (IMPLAUSIBLE, "Faster than the machine can be")):
        for comparison in comparisons:
            stacks = [cell.stack for cell in comparison.cells if cell.outcome == outcome]
            if stacks:
                yield f"{words}, left out of every ratio: {', '.join(stacks)} in {comparison.name}."


def noisy(records: Sequence[BlockRecord]) -> Iterable[str]:
    """Yields how many runs of blocks exceeded a limit of the noise gate."""
    if over := over_limit(records):
        rejected = sum(record.verdict != "accepted" for record in over)
        counted = f" (rejected and not counted: {rejected})" if rejected else ""
        yield f"{len(over)} of {len(records)} block runs exceeded a noise limit{counted}."


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


def out_of_reach(analysis: Analysis) -> Iterable[str]:
    """Yields what the set's noise keeps it from showing: a tie, or differences inside a wide noise floor."""
    if width := too_wide(analysis):
        yield (
            f"A tie (no difference over {units.percent(analysis.protocol.tie_ratio - 1)}) was out of reach: the "
            f"narrowest interval of a ratio is ±{units.percent(width - 1)}."
        )
    wide, floors = wide_floors(analysis)
    if wide:
        yield (
            f"The noise floor is wider than ±{units.percent(FLOOR_MAX - 1)} in {wide} of {floors} comparisons: no "
            "smaller difference is shown there."
        )


def over_limit(records: Sequence[BlockRecord]) -> list[BlockRecord]:
    """Returns the runs of blocks that exceeded a limit of the noise gate."""
    return [record for record in records if record.reasons]


def too_wide(analysis: Analysis) -> float | None:
    """Returns the reach of the narrowest interval of a ratio, as a factor, if even that is too wide for a tie."""
    widths = [width for speedup in analysis.speedups if (width := reach(speedup.ratio))]
    return min(widths) if widths and min(widths) > analysis.protocol.tie_ratio else None


def wide_floors(analysis: Analysis) -> tuple[int, int]:
    """Returns how many noise floors are wider than FLOOR_MAX, and how many there are."""
    noise = [comparison.noise.ratio for comparison in analysis.comparisons if comparison.noise]
    floors = [width for ratio in noise if (width := reach(ratio))]
    return sum(width > FLOOR_MAX for width in floors), len(floors)


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
