"""What a reader must know before believing a number: the notices at the top of the page."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence

from suite import units
from suite.case import Flag, Outcome
from suite.errors import COMMAND
from suite.report.sections.answers import standing_in
from suite.report.sections.surroundings import BlockRecord
from suite.results.analysis import Analysis, Comparison
from suite.results.store.plan_file import PlanFile
from suite.stats import is_doubtful


def notices(
    analysis: Analysis, plan: PlanFile | None, records: Sequence[BlockRecord], modified: bool
) -> tuple[str, ...]:
    """All of them, gravest first; `modified`: the source had been changed."""
    return (
        *hidden(analysis),
        *incomplete(analysis, plan),
        *wrong(analysis.comparisons),
        *filter(None, map(standing_in, analysis.comparisons)),
        *noisy(records),
        *doubtful(analysis.comparisons),
        *others(analysis, modified),
    )


def hidden(analysis: Analysis) -> Iterable[str]:
    """Stacks that were measured and aren't shown."""
    if analysis.hidden:
        yield (
            f"Not shown, as was asked: {', '.join(analysis.hidden)}. Speedups, intervals and geometric means are "
            "those of the whole set; an answer names the fastest of those shown."
        )


def incomplete(analysis: Analysis, plan: PlanFile | None) -> Iterable[str]:
    """Planned processes that have no row."""
    if analysis.not_run and plan and plan.collected:
        yield f"This set is not complete: {analysis.not_run} planned processes have no result in the shares of it."
    elif analysis.not_run and plan:
        yield (
            f"This run is not complete: {analysis.not_run} planned processes have no result yet. "
            f"To run them: {COMMAND} run --resume={shlex.quote(f'results/{plan.set_id}')}"
        )


def wrong(comparisons: Iterable[Comparison]) -> Iterable[str]:
    """Stacks that failed the gate."""
    for comparison in comparisons:
        stacks = [cell.stack for cell in comparison.cells if cell.outcome == Outcome.WRONG]
        if stacks:
            yield f"Wrong results, left out of every ratio: {', '.join(stacks)} in {comparison.name}."


def noisy(records: Sequence[BlockRecord]) -> Iterable[str]:
    """Blocks over a limit of the noise gate."""
    over = [record for record in records if record.reasons]
    if over:
        rejected = sum(record.verdict != "accepted" for record in over)
        dropped = f"; {rejected} rejected and not counted" if rejected else ""
        yield f"Noisy blocks: {len(over)} of {len(records)} runs of a block{dropped}."


def doubtful(comparisons: Iterable[Comparison]) -> Iterable[str]:
    """Questions on which equal processes differ much, or surely."""
    for comparison in comparisons:
        noise = comparison.noise
        if noise and is_doubtful(noise.ratio):
            shown = units.estimate(noise.ratio.value, noise.ratio.low, noise.ratio.high)
            yield (
                f"Doubt the verdicts of {comparison.name}: {noise.stack} against itself (A/A) is {shown}, "
                "so equal processes differ by as much."
            )


def others(analysis: Analysis, modified: bool) -> Iterable[str]:
    """One block, unpinned environments, a changed source."""
    if len(analysis.blocks) == 1:
        yield "One block only: no interval exists and every verdict is undecided."
    if any(Flag.UNPINNED in row.flags for row in analysis.counted):
        yield "Some environments were not installed from the locks (unpinned)."
    if modified:
        yield "The source was modified when this set was measured; the change is archived with it."
