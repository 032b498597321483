"""A stored set and a page that an earlier version made of it: today's page has the same numbers.

A change of method changes some by intention. Then the differences are read one by one, the changelog says which and
why, and the page is renewed: `invoke report --set=tests/results/sets/three_questions`, with its new sha256 in the
manifest there.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from suite.report.formats.render import render
from tests.report.page_numbers import Key, page_numbers

SET = Path(__file__).parents[1] / "results" / "sets" / "three_questions"
SUMMARY, HOSTS, BLOCKS = "Summary against torch_eager", "Device or host", "Blocks and their noise"
# Heads that say the same in other words since the page was stored.
REWORDED = {
    (SUMMARY, "Geometric mean1 common"): "Mean over 1 common comparison",
    (SUMMARY, "Intervalcommon"): "Its interval",
    (SUMMARY, "Geometric meanits own"): "Mean over the stack's own comparisons",
    (SUMMARY, "Intervalits own"): "Its interval",
    (SUMMARY, "Countedof planned"): "Comparisons counted, of planned",
    (SUMMARY, "Least"): "Lowest speedup",
    (SUMMARY, "Greatest"): "Highest speedup",
    (HOSTS, "Returned earlyshare of synced"): "Still to compute when the call returnsshare of the synced time",
    (BLOCKS, "Retry"): "Run",
    ("Reproduce this result set", "lock "): "lock file ",
    ("", "Efficiency% of the roofline"): "Efficiency% of the machine's measured limit",
    ("", "Compiling"): "Compile time",
    ("", "Compilesfirst / second / steady"): "Compilationsin first / second / steady runs",
}
# Columns that gave way to another definition by intention: resident peaks, pages of libraries included; the mean over
# processes of what a copy adds, for the difference of two medians.
REPLACED = ("Host peakbuild", "Host peakstep", "Copy to host adds")
# What differs by intention since then.
PHASES, FAILURES = "First, second and steady run", "Failures and their reasons"
CHANGED: tuple[Key, ...] = (
    # The mean over one question has the interval that the question's table has.
    *((SUMMARY, "table 1", stack, "Its interval") for stack in ("numpy", "jax_jit", "torch_xla")),
    (SUMMARY, "figure", "Geometric mean speedup over torch_eager, common comparisons"),
    # What doesn't suit its column's unit has one of its own: 10 s, 6.49 ms.
    ("gemm forward tiny", "figure", PHASES),
    ("llama train tiny", "figure", PHASES),
    ("llama train tiny", "table 1", "torch_eager", "First runs"),
    ("Eager or compiled", "table 1", "llama train tiny / torch_eager / torch_xla", "Eagerfirst run"),
    # An answer says how long a first run of very many steps takes.
    ("", "answer", "llama train tiny"),
    # Every case is in this table, and its blocks are ranges.
    *((FAILURES, "table 1", "ffn train full / torch_xla", "Blocks", *again) for again in ((), ("2",))),
    (FAILURES, "table 1", "llama train tiny / numpy", "Blocks"),
)


def stored() -> str:
    """The page as an earlier version made it."""
    return (SET / "report.html").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def then() -> dict[Key, tuple[str, ...]]:
    return page_numbers(stored(), REWORDED)


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return render(SET, tmp_path_factory.mktemp("page") / "report.html").read_text(encoding="utf-8")


def test_no_number_of_the_page_has_changed(then: dict[Key, tuple[str, ...]], page: str) -> None:
    now = page_numbers(page)
    kept = {key: values for key, values in then.items() if values and not key[-1].startswith(REPLACED)}
    assert {key for key, values in kept.items() if now.get(key) != values} == {*CHANGED}


def test_the_old_page_is_read_whole(then: dict[Key, tuple[str, ...]]) -> None:
    """Every table, figure and answer is among what is compared: otherwise the test above proves nothing."""
    kinds = {key[:2] for key, values in then.items() if values}
    for question in ("ffn train full", "gemm forward tiny", "llama train tiny"):
        assert {(question, "table 1"), (question, "table 2"), (question, "figure"), (question, "noise floor")} <= kinds
        assert sum(key[:2] == (question, "figure") for key in then) == 3
        assert ("", "answer", question) in then
    sections = (
        "Summary against torch_eager",
        "What ran",
        "Eager or compiled",
        "Device or host",
        "Failures and their reasons",
        "Blocks and their noise",
    )
    assert {(section, "table 1") for section in sections} <= kinds | {("What ran", "table 1")}
    one = then["ffn train full", "table 1", "jax_jit", "Speedup"]
    assert one == ("1.75", "1.75117532")
    assert then["ffn train full", "table 1", "jax_jit", "Interval"] == ("1.38", "2.23")
    assert sum(map(len, then.values())) > 1500


@pytest.mark.parametrize("old", ["1.75117532", "[1.38, 2.23]</td>", 'x1="', "8 processes, max/min 1.20", "ok of 60"])
def test_a_changed_number_would_be_seen(then: dict[Key, tuple[str, ...]], page: str, old: str) -> None:
    assert old in page
    new = old.translate(str.maketrans("0123456789", "1234567890")) if old != 'x1="' else 'x1="7'
    now = page_numbers(page.replace(old, new))
    assert {key for key, values in then.items() if now.get(key) != values}


def test_every_reworded_head_is_a_place_of_both_pages(page: str) -> None:
    then, now = ({word for key in page_numbers(text) for word in key} for text in (stored(), page))
    for (_, old), new in REWORDED.items():
        assert any(old in word for word in then) and any(new in word for word in now), (old, new)
        assert not any(word.startswith(old) and not word.startswith(new) for word in now), old
