"""The order of stacks: by their means where there are any, else the catalogue's."""

from __future__ import annotations

import re

from suite.results.analysis import Analysis
from suite.stacks.catalog import STACKS


def ranked_stacks(analysis: Analysis) -> tuple[str, ...]:
    """Returns all stacks, baseline included, the greatest geometric mean over the common questions first. Stacks
    without this mean come last, in the catalogue's order: those with a mean over their own questions, then the
    others."""
    means = {line.stack: line.common.value for line in analysis.summaries if line.common}
    means |= {analysis.baseline: 1.0} if means else {}
    own_means = {line.stack: line.ratio.value for line in analysis.summaries if line.ratio}
    order = {stack: place for place, stack in enumerate(compared_stacks(analysis))}
    return tuple(
        sorted(
            order, key=lambda stack: (stack not in means, -means.get(stack, 0.0), stack not in own_means, order[stack])
        )
    )


def compared_stacks(analysis: Analysis) -> tuple[str, ...]:
    """Returns the stacks of all comparisons in the catalogue's order, which keeps dialects together; stacks that the
    catalogue doesn't have come last."""
    return tuple(
        sorted({cell.stack for comparison in analysis.comparisons for cell in comparison.cells}, key=catalogue_order)
    )


def catalogue_order(stack: str) -> tuple[int, str]:
    """Returns the sort key of a stack: its place in the catalogue, then its name."""
    order = {name: place for place, name in enumerate(STACKS)}
    return order.get(re.split("[@:]", stack)[0], len(order)), stack
