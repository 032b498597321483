"""Some stacks of a set: what stays in sight has the figures of the whole set, and who is hidden is said."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest

from suite import results
from suite.answers.frontier import frontier
from suite.answers.summary import summary
from suite.cli.sets.report import report
from suite.errors import UserError
from suite.page.formats.render import render
from suite.page.map.controls import PageMap
from suite.page.report import Report
from suite.plan.search.capacity import memory_of
from suite.protocol import Protocol
from suite.results.frame import Frame
from suite.results.shown import only
from tests.page.parts import found
from tests.page.test_report import Page
from tests.plan.test_capacity import memory_row
from tests.plan.test_capacity import rows as memory_rows
from tests.plan_files import plan_file
from tests.results.rows import rows_of

SET = Path(__file__).parent / "sets" / "three_questions"
SHOWN = ("jax_*",)  # beside torch_eager, the baseline; hidden are numpy and torch_xla


def test_speedups_and_means_are_those_of_the_whole_set() -> None:
    whole = results.load(SET).analysis()
    some = only(whole, SHOWN)
    stacks = {row.stack_name for row in some.rows}
    assert stacks == {"jax_jit", "torch_eager"} and some.hidden == ("numpy", "torch_xla")
    assert some.speedups == whole.speedups, "the family stays"
    assert some.means() == tuple(line for line in whole.means() if line.stack in stacks) != ()
    for before, after in zip(whole.comparisons, some.comparisons, strict=True):
        assert after.timed == tuple(each for each in before.timed if each.stack in stacks)
        assert {cell.stack for cell in after.cases} <= stacks
    assert only(whole, ()) is whole and only(whole, ("*",)) is whole


def test_another_baseline_is_kept() -> None:
    assert {row.stack_name for row in only(results.load(SET).analysis("numpy"), ("jax_jit",)).rows} == {
        "jax_jit",
        "numpy",
    }


def test_some_questions_keep_the_figures_of_the_whole_set() -> None:
    whole = results.load(SET).analysis()
    some = only(whole, (), ("gemm*", "llama train tiny"))
    assert [comparison.name for comparison in some.comparisons] == ["gemm forward tiny", "llama train tiny"]
    assert some.comparisons == whole.comparisons[1:] and not some.is_whole
    assert some.hidden_comparisons == whole.comparisons[:1]
    assert some.all_comparisons == (*whole.comparisons[1:], *whole.comparisons[:1])
    assert some.speedups == whole.speedups and some.means() == whole.means()
    assert {row["workload"] for row in some.counted} == {"gemm", "llama"}
    assert only(whole, (), ("*",)) is whole
    with pytest.raises(UserError, match=r"has no question 'gem'.*gemm forward tiny"):
        only(whole, (), ("gem",))


@pytest.mark.parametrize("question", ["ffn train full", "gemm *", "llama train tiny"])
def test_the_geometric_means_beside_one_question_are_those_of_the_whole_set(question: str, tmp_path: Path) -> None:
    whole = results.load(SET).analysis()
    some = only(whole, (), (question,))
    means, of_whole = (summary(Frame(results.load(SET), analysis)) for analysis in (some, whole))
    assert means and of_whole and means.table.equals(of_whole.table) and means.sentence == of_whole.sentence
    page = Page(render(SET, tmp_path / "some.html", questions=(question,)).read_text(encoding="utf-8"))
    extremes = {speedup.comparison_id for line in whole.means() for speedup in (line.least, line.greatest) if speedup}
    assert extremes >= {comparison.id for comparison in some.hidden_comparisons}, "the page names hidden questions"
    ids = {attributes["id"] for _, attributes in page.elements if "id" in attributes}
    links = [str(link["href"]) for link in page.all("a") if str(link.get("href")).startswith("#")]
    assert len(links) > 10 and {link[1:] for link in links} <= ids, "no link leads nowhere"


def test_the_first_sentence_is_on_the_shown_questions() -> None:
    paces = {64: 0.5, 65: 0.25, 66: 0.1}
    rows = [
        row
        for n, pace in paces.items()
        for row in rows_of({"numpy": [0.02] * 3, "jax_jit": [0.02 * pace] * 3}, dims={"n": n})
    ]
    whole = results.Results(Path("a-set"), plan_file(), rows, [], {}).analysis()
    some = only(whole, (), ("*64*", "*65*"))
    said, of_whole = (PageMap(analysis) for analysis in (some, whole))
    assert "(n = 66)" not in said.sentence and "(n = 65) (4.00× numpy)" in said.sentence
    assert "(n = 66) (10.0× numpy)" in of_whole.sentence


@pytest.mark.parametrize("tolerance", [0.0, 0.02])
def test_a_search_of_some_stacks_ends_as_that_of_the_whole_set(tolerance: float) -> None:
    searched = plan_file(vary="batch", protocol=Protocol(search_tolerance=tolerance), baseline="torch_eager")
    asked = [*memory_rows(), *(memory_row("tf_xla", batch, batch) for batch in (1, 2, 4))]
    of = results.Results(Path("a-set"), searched, asked, [], {})
    whole = of.analysis()
    some = only(whole, ("jax_jit",))
    assert {row.stack_name for row in some.rows} == {"jax_jit", "torch_eager"}
    ends = [found.also for analysis in (whole, some) if (found := frontier(Frame(of, analysis)))]
    assert len(ends) == 2 and ends[0] == ends[1] and ends[0]
    assert [question.tolerance for question in memory_of(some)] == [tolerance]


def test_a_stack_that_the_set_lacks_is_refused() -> None:
    with pytest.raises(UserError, match=r"The result set has no stack 'jax_jt'\. Did you mean 'jax_jit'"):
        only(results.load(SET).analysis(), ("numpy", "jax_jt"))


def test_a_page_of_some_stacks_lies_here_and_has_no_other_number(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = (SET / "report.html").read_bytes()
    report(set=str(SET), stack=tuple(SHOWN))
    assert capsys.readouterr().out == "report.html\n" and (SET / "report.html").read_bytes() == before
    text = Path("report.html").read_text(encoding="utf-8")
    assert "Left out on request: numpy, torch_xla." in text
    loaded = results.load(SET)
    some, whole = (found(Report(loaded, loaded.analysis(None, of)), "comparisons").table for of in (SHOWN, ()))
    assert {*some["stack"]} == {"jax_jit", "torch_eager"} and some.height > 4
    same = whole.filter(pl.col("stack").is_in(some["stack"].unique().to_list()))
    assert some.drop("leads").equals(same.drop("leads")), "who leads is said of the shown stacks"


def test_programs_are_told_who_is_hidden(capsys: pytest.CaptureFixture[str]) -> None:
    report(set=str(SET), format="json", stack=("jax_jit",))
    found = json.loads(capsys.readouterr().out)
    assert "numpy" in found["hidden"] and "jax_jit" not in found["hidden"]
    assert {stack["stack"] for each in found["comparisons"] for stack in each["stacks"]} == {"jax_jit", "torch_eager"}
