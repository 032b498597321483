"""Finds the rivals of the stack with the lowest median on a question: those that it isn't shown to be faster than."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from suite.stats import Word


def pair_shares(stacks: int) -> float:
    """Returns the number of families that share the error probability where the fastest stack is compared with stacks
    other than the baseline.

    The fastest stack is chosen by its times and then compared by the same times. Any of the stacks could have been
    chosen, so each has a family of ratios over it. But half of a family's errors are stacks that falsely come out
    faster than the chosen one, and an answer only says which stacks are slower. So half as many families share.
    """
    return max(1.0, stacks / 2)


def rivals(
    first: str, stacks: Collection[str], baseline: str, verdicts: Mapping[str, Word], over_first: Mapping[str, Word]
) -> tuple[str, ...]:
    """Returns the stacks that aren't shown to be slower than `first`, which has the lowest median.

    `verdicts` are those of the question's table, over the baseline; they decide wherever they can, so that an answer
    never contradicts its table. `over_first` are verdicts over `first`, for pairs of which the table says nothing.
    """
    leads = verdicts.get(first) == "faster"

    def is_slower(stack: str) -> bool:
        word = verdicts.get(stack)
        if first == baseline:
            return word == "slower"
        if stack == baseline or word == "faster":
            # A stack that is faster than the baseline leads every stack that isn't.
            return leads and (stack == baseline or over_first.get(stack) == "slower")
        return (leads and word == "slower") or over_first.get(stack) == "slower"

    return tuple(stack for stack in stacks if stack != first and not is_slower(stack))
