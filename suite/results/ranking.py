"""The order of stacks: by their means where there are any, else the catalogue's."""

from __future__ import annotations

import re

from suite.order import natural
from suite.results.analysis import Analysis
from suite.stacks.catalog import STACKS


def ranked_stacks(analysis: Analysis) -> tuple[str, ...]:
    """Returns all stacks, baseline included, the greatest geometric mean over all questions first. Stacks that aren't
    ranked come last, in the catalogue's order: those that answered some question, then the others."""
    lines = analysis.means()
    means = {line.stack: line.ratio.value for line in lines if line.ratio and line.is_ranked}
    means |= {analysis.baseline: 1.0} if means else {}
    answered = {line.stack for line in lines if line.ratio}
    order = {stack: place for place, stack in enumerate(compared_stacks(analysis))}
    return tuple(
        sorted(
            order, key=lambda stack: (stack not in means, -means.get(stack, 0.0), stack not in answered, order[stack])
        )
    )


def compared_stacks(analysis: Analysis) -> tuple[str, ...]:
    """Returns the stacks of all comparisons in the catalogue's order, which keeps dialects together; stacks that the
    catalogue doesn't have come last."""
    return tuple(
        sorted({case.stack for comparison in analysis.comparisons for case in comparison.cases}, key=catalogue_order)
    )


def catalogue_order(stack: str) -> tuple[int, str]:
    """Returns the sort key of a stack: its place in the catalogue, then its name by `natural`."""
    order = {name: place for place, name in enumerate(STACKS)}
    return order.get(re.split("[@:]", stack)[0], len(order)), natural(stack)
