"""The answer to a question and its table say the same of every stack."""

from __future__ import annotations

from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.stats import Word
from suite.verdicts.fastest import pair_shares, rivals

STACKS = ("numpy", "jax_jit", "tf_xla", "torch_eager")
BASELINE = "torch_eager"
words = st.sampled_from(get_args(Word))
over_baseline = st.fixed_dictionaries({stack: words for stack in STACKS if stack != BASELINE})


def test_over_the_baseline_the_table_decides_alone() -> None:
    """Seen: a table said `slower` of numpy, and the answer that the baseline wasn't shown to be faster than it."""
    table: dict[str, Word] = {"numpy": "slower", "jax_jit": "undecided", "tf_xla": "tie"}
    doubts: dict[str, Word] = dict.fromkeys(STACKS, "undecided")
    sure: dict[str, Word] = dict.fromkeys(STACKS, "slower")
    for pairs in (doubts, sure):
        assert rivals(BASELINE, STACKS, BASELINE, table, pairs) == ("jax_jit", "tf_xla")


def test_who_is_faster_than_the_baseline_is_faster_than_all_that_are_slower() -> None:
    table: dict[str, Word] = {"jax_jit": "faster", "numpy": "slower", "tf_xla": "undecided"}
    assert rivals("jax_jit", STACKS, BASELINE, table, {}) == ("tf_xla",)
    assert rivals("jax_jit", STACKS, BASELINE, table, {"tf_xla": "slower"}) == ()


def test_a_stack_that_is_surely_faster_than_the_baseline_rivals_one_that_is_not() -> None:
    """The lowest median varies so much that nothing is sure of it over the baseline."""
    table: dict[str, Word] = {"jax_jit": "undecided", "numpy": "faster", "tf_xla": "slower"}
    sure: dict[str, Word] = dict.fromkeys(STACKS, "slower")
    assert rivals("jax_jit", STACKS, BASELINE, table, sure) == ("numpy", "torch_eager")


@given(st.sampled_from(STACKS), over_baseline, st.fixed_dictionaries(dict.fromkeys(STACKS, words)))
def test_an_answer_never_contradicts_its_table(first: str, table: dict[str, Word], pairs: dict[str, Word]) -> None:
    """What is said to be slower than `first`, with all that the table says, has no circle and no gap."""
    told = rivals(first, STACKS, BASELINE, table, pairs)
    slower = {(stack, first) for stack in STACKS if stack != first and stack not in told}
    slower |= {(stack, BASELINE) for stack, word in table.items() if word == "slower"}
    slower |= {(BASELINE, stack) for stack, word in table.items() if word == "faster"}
    implied = set(slower)
    for middle in STACKS:
        implied |= {(a, c) for a, b in implied for b_, c in implied if b == b_ == middle}
    about_first_or_baseline = {pair for pair in implied if pair[1] == first or BASELINE in pair}
    if table.get(first) != "slower":  # then the lowest median itself contradicts the paired ratio
        assert not {(a, b) for a, b in implied if a == b}
        assert about_first_or_baseline <= slower


@pytest.mark.parametrize(("stacks", "shares"), [(1, 1.0), (2, 1.0), (3, 1.5), (10, 5.0)])
def test_each_stack_that_could_have_the_lowest_median_has_half_a_share(stacks: int, shares: float) -> None:
    assert pair_shares(stacks) == shares
