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


@pytest.fixture(scope="module")
def then() -> dict[Key, tuple[str, ...]]:
    return page_numbers((SET / "report.html").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> str:
    return render(SET, tmp_path_factory.mktemp("page") / "report.html").read_text(encoding="utf-8")


def test_no_number_of_the_page_has_changed(then: dict[Key, tuple[str, ...]], page: str) -> None:
    now = page_numbers(page)
    assert {key: values for key, values in then.items() if values and now.get(key) != values} == {}


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
    assert then["ffn train full", "table 1", "jax_jit", "Interval"] == ("1.19", "2.58")
    assert sum(map(len, then.values())) > 1500


@pytest.mark.parametrize("old", ["1.75117532", "[1.19, 2.58]</td>", 'x1="', "8 processes, max/min 1.20", "ok of 60"])
def test_a_changed_number_would_be_seen(then: dict[Key, tuple[str, ...]], page: str, old: str) -> None:
    assert old in page
    new = old.translate(str.maketrans("0123456789", "1234567890")) if old != 'x1="' else 'x1="7'
    now = page_numbers(page.replace(old, new))
    assert {key for key, values in then.items() if now.get(key) != values}
