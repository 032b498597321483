"""The search for the first slower release, whatever can't be tried."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from suite.plan.bisection import Bisection, ReleaseVerdict

VERDICTS = {
    "+": ReleaseVerdict.SLOWER,
    "-": ReleaseVerdict.NOT_SLOWER,
    "?": ReleaseVerdict.UNDECIDED,
    "x": ReleaseVerdict.SKIPPED,
}


def searched(truth: str) -> tuple[Bisection, list[str]]:
    """A search among releases `0`, `1`, ... that turn out as these letters say; which were tried."""
    releases = [str(index) for index in range(len(truth))]
    bisection, tried = Bisection(releases), []
    while (release := bisection.next()) is not None:
        tried.append(release)
        bisection.verdicts[release] = VERDICTS[truth[int(release)]]
    return bisection, tried


def test_the_first_slower_one_is_bracketed_in_few_tries() -> None:
    bisection, tried = searched("-" * 20 + "+" * 12)
    assert (bisection.not_slower, bisection.slower, bisection.between) == ("19", "20", [])
    assert tried[0] == "31", "the bad one is looked at before anything is searched for"
    assert len(tried) <= 6


def test_a_bad_one_that_is_not_slower_ends_the_search() -> None:
    for last in "-?x":
        bisection, tried = searched(f"--+{last}")
        assert tried == ["3"]
        assert bisection.slower is None and bisection.between == []


def test_what_can_not_be_tried_stays_open_and_is_said() -> None:
    bisection, tried = searched("--xx?++")
    assert (bisection.not_slower, bisection.slower, bisection.between) == ("1", "5", ["2", "3", "4"])
    assert len(tried) == len(set(tried))


@given(st.integers(0, 12), st.integers(1, 12), st.data())
def test_neighbours_are_found_whatever_is_skipped(before: int, after: int, data: st.DataObject) -> None:
    letters = ["-"] * (before + 1) + ["+"] * after
    for index in data.draw(st.sets(st.integers(1, max(1, len(letters) - 2)))):
        if 0 < index < len(letters) - 1:
            letters[index] = data.draw(st.sampled_from("x?"))
    bisection, tried = searched("".join(letters))
    low, high = int(bisection.not_slower), int(bisection.slower or -1)
    assert letters[low] == "-" and letters[high] == "+"
    assert all(letters[index] in "x?" for index in range(low + 1, high)), "nothing known lies between"
    assert all(str(index) in tried for index in range(low + 1, high))
    assert len(tried) == len(set(tried)) <= len(letters) - 1
