"""The search for the first slower release, whatever can't be tried."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from suite.extras.bisect.bisection import ReleaseVerdict, bracket, next_release
from suite.plan.search.bracket import Bracket

VERDICTS = {
    "+": ReleaseVerdict.SLOWER,
    "-": ReleaseVerdict.NOT_SLOWER,
    "?": ReleaseVerdict.UNDECIDED,
    "x": ReleaseVerdict.SKIPPED,
}


def searched(truth: str) -> tuple[Bracket, list[int]]:
    """A search among releases `0`, `1`, ... that turn out as these letters say; which were tried."""
    releases, verdicts = [str(index) for index in range(len(truth))], dict[str, ReleaseVerdict]()
    while (release := next_release(releases, verdicts)) is not None:
        assert release not in verdicts
        verdicts[release] = VERDICTS[truth[int(release)]]
    return bracket(releases, verdicts), [*map(int, verdicts)]


def test_the_first_slower_one_is_bracketed_in_few_tries() -> None:
    found, tried = searched("-" * 20 + "+" * 12)
    assert found == Bracket(19, 20) and len(tried) <= 6
    assert tried[0] == 31, "the bad one is looked at before anything is searched for"


@pytest.mark.parametrize("last", "-?x")
def test_a_bad_one_that_is_not_slower_ends_the_search(last: str) -> None:
    assert searched(f"--+{last}") == (Bracket(), [3])


def test_what_can_not_be_tried_stays_open() -> None:
    assert searched("--xx?++")[0] == Bracket(1, 5)


@given(st.integers(0, 12), st.integers(1, 12), st.data())
def test_neighbours_are_found_whatever_is_skipped(before: int, after: int, data: st.DataObject) -> None:
    letters = ["-"] * (before + 1) + ["+"] * after
    for index in data.draw(st.sets(st.integers(1, max(1, len(letters) - 2)))):
        if 0 < index < len(letters) - 1:
            letters[index] = data.draw(st.sampled_from("x?"))
    found, tried = searched("".join(letters))
    low, high = found.low, found.high or -1
    assert letters[low] == "-" and letters[high] == "+"
    between = range(low + 1, high)
    assert all(letters[index] in "x?" for index in between) and {*between} <= {*tried}
