"""Sentences and notices: of whole sets, and of unfinished ones."""

from __future__ import annotations

from pathlib import Path

import pytest

import suite.report
from suite import results
from suite.cli.answer import print_comparison
from suite.report.formats.render import render
from suite.report.formats.text import told
from suite.report.notices import notices
from suite.report.page import report
from suite.results.analysis import Analysis, analyse
from suite.results.store.rows import Row
from tests.plan_files import plan_file
from tests.report import synthetic
from tests.results.rows import attempt_of, make_set, record, row_of, rows_of

JAX = "jax_jit"
THREE = plan_file().protocol


def analysis_of(rows: list[Row], baseline: str = "numpy") -> Analysis:
    return analyse(rows, plan_file(), THREE, baseline, None)


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> results.Results:
    """Three of five blocks of the synthetic set."""
    return results.load(synthetic.write(tmp_path_factory.mktemp("unfinished") / "part", blocks=3))


def test_an_unfinished_set_names_no_fastest_stack(unfinished: results.Results) -> None:
    answers = suite.report.headline(unfinished)
    assert [answer.lead for answer in answers] == ["So far the lowest median"] * 3
    assert all(answer.text.startswith(f"So far the lowest median for {answer.question}: ") for answer in answers)
    assert not any("not run" in answer.text for answer in answers)
    selu = next(answer for answer in answers if answer.question == "selu forward")
    assert selu.text.endswith(" 3 of 10 stacks did not end ok.")  # what hasn't run yet hasn't failed
    [first, *_] = report(unfinished).notices
    assert "not complete: 64 planned processes" in first
    assert first.endswith("./stackwars run --resume=results/part")


def test_an_unfinished_set_shows_what_is_unsupported_as_such(unfinished: results.Results) -> None:
    made = report(unfinished)
    cells = {(line.name, cell.stack): cell for line in made.matrix for cell in line.cells if cell}
    reason = synthetic.ENDINGS[synthetic.UNSUPPORTED_IN_PLAN]["reason"]
    assert (cells["selu forward", "torch_xla"].outcome, cells["selu forward", "torch_xla"].reason) == (
        "unsupported",
        reason,
    )
    assert [f.reason for f in made.failures if (f.stack, f.outcome) == ("torch_xla", "unsupported")] == [reason]
    assert {fact.name: fact.value for fact in made.facts}["Blocks"] == "3"


def test_a_wide_twin_is_a_notice_that_names_the_question() -> None:
    rows = rows_of({"numpy": [0.02] * 3, JAX: [0.01] * 3}) + rows_of({"numpy": [0.02] * 3}, pass_="train")
    twins = [row_of(attempt_of(block=b, replicate=2), s) for b, s in enumerate([0.016, 0.025, 0.02], 1)]
    quiet = [row_of(attempt_of(block=b, replicate=2, pass_="train"), s) for b, s in enumerate([0.02, 0.0201, 0.02], 1)]
    [notice] = notices(analysis_of(rows + twins + quiet), None, [], modified=False)
    assert notice.startswith("Doubt the verdicts of gemm forward: numpy against itself (A/A) is 1.00× [0.")
    assert notices(analysis_of(rows + quiet), None, [], modified=False) == ()


def test_only_blocks_that_ran_are_counted(unfinished: results.Results, tmp_path: Path) -> None:
    one = report(results.load(synthetic.write(tmp_path / "one", blocks=1)))
    assert any(notice.startswith("One block only") for notice in one.notices)
    assert not any(notice.startswith("One block only") for notice in report(unfinished).notices)


def test_who_stands_in_for_the_baseline_is_said_wherever_a_ratio_over_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """On the console, in Markdown, in the figures and at the top of the page."""
    times = {JAX: [0.01, 0.0101, 0.0102], "tf_xla": [0.04, 0.0401, 0.0402]}
    crashed = [
        row_of(attempt_of("numpy", block=b)) | {"outcome": "crashed", "phase": "first", "synced_seconds": None}
        for b in (1, 2, 3)
    ]
    store = make_set(tmp_path / "set", [*rows_of(times), *crashed], [record(b, 1) for b in (1, 2, 3)])
    loaded = results.load(store.folder)
    (comparison,) = loaded.analysis("numpy").comparisons
    sentence = (
        "On gemm forward the baseline numpy has no time that counts (crashed in first): jax_jit, the fastest "
        "that has one, stands in for it."
    )
    print_comparison(comparison)
    printed = " ".join(capsys.readouterr().out.split())
    assert sentence in printed and "speedup over jax_jit" in printed
    [answer] = suite.report.headline(loaded, "numpy")
    assert "jax_jit, 10.1 ms (in place of the baseline numpy, which has no time that counts)" in answer.text
    assert sentence in report(loaded, "numpy").notices
    page = render(store.folder, tmp_path / "page.html", "numpy").read_text(encoding="utf-8")
    assert "Baseline: jax_jit, in place of numpy, which has no time that counts." in page
    assert "Speedup over jax_jit" in page
    markdown = told(loaded, "numpy").written("md")
    assert sentence in markdown and "gemm forward (over jax_jit)" in markdown
    assert {line["stack"]: line["baseline"] for line in loaded.stacks("numpy").to_dict("records")}["tf_xla"] == JAX
