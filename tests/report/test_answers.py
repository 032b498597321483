"""Sentences, notices and the console's table: of whole sets, of unfinished ones, and of a baseline that failed."""

from __future__ import annotations

from pathlib import Path

import pytest

import suite.report
from suite import results
from suite.cli.answer import print_comparison, stack_json
from suite.report.notices import notices
from suite.report.page import report
from suite.results.analysis import Analysis, analyse
from suite.results.rows import Row
from tests.plan_files import plan_file
from tests.report import synthetic
from tests.results.rows import attempt_of, row_of, rows_of

JAX = "jax_jit"
THREE = plan_file().protocol


def analysis_of(rows: list[Row], baseline: str = "numpy") -> Analysis:
    return analyse(rows, plan_file(), THREE, baseline, {})


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
    assert first.endswith("invoke run --resume=results/part")


def test_an_unfinished_set_shows_what_is_unsupported_as_such(unfinished: results.Results) -> None:
    made = report(unfinished)
    cells = {(line.name, cell.stack): cell for line in made.matrix for cell in line.cells if cell}
    reason = synthetic.ENDINGS[synthetic.UNSUPPORTED_IN_PLAN]["reason"]
    assert (cells["selu forward", "torch_xla"].outcome, cells["selu forward", "torch_xla"].reason) == (
        "unsupported", reason)  # fmt: skip
    assert [f.reason for f in made.failures if (f.stack, f.outcome) == ("torch_xla", "unsupported")] == [reason]
    assert {fact.name: fact.value for fact in made.facts}["Blocks"] == "3"


def test_a_wide_twin_is_a_notice_that_names_the_question() -> None:
    rows = rows_of({"numpy": [0.02] * 3, JAX: [0.01] * 3}) + rows_of({"numpy": [0.02] * 3}, pass_="train")
    twins = [row_of(attempt_of(block=b, replicate=2), s) for b, s in enumerate([0.016, 0.025, 0.02], 1)]
    quiet = [row_of(attempt_of(block=b, replicate=2, pass_="train"), s) for b, s in enumerate([0.02, 0.0201, 0.02], 1)]
    [notice] = notices(analysis_of(rows + twins + quiet), None, [], modified=False)
    assert notice.startswith("Doubt the verdicts of gemm forward: numpy against itself (A/A) is 1.00× [0.5")
    assert notices(analysis_of(rows + quiet), None, [], modified=False) == ()


def test_only_blocks_that_ran_are_counted(unfinished: results.Results, tmp_path: Path) -> None:
    one = report(results.load(synthetic.write(tmp_path / "one", blocks=1)))
    assert any(notice.startswith("One block only") for notice in one.notices)
    assert not any(notice.startswith("One block only") for notice in report(unfinished).notices)


# --- the console ---


def shown(analysis: Analysis, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    """The console's lines by their stack."""
    print_comparison(analysis.comparisons[0], analysis.baseline)
    cut = [[part.strip() for part in line.strip("│┃ ").replace("┃", "│").split("│")]
           for line in capsys.readouterr().out.splitlines()]  # fmt: skip
    return {parts[0]: " | ".join(parts[1:]) for parts in cut if len(parts) > 1}


def test_the_console_has_median_speedup_verdict_and_times(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(analysis_of(rows_of({"numpy": [0.02] * 3, JAX: [0.01] * 3})), capsys)
    assert lines["stack"] == "median | speedup over numpy | verdict | first run | second run | average"
    assert lines[JAX] == "10.0 ms | 2.00× [2.00, 2.00] | faster | 100 ms | 20.0 ms | 10.0 ms"
    assert lines["numpy"] == "20.0 ms | – | baseline | 200 ms | 40.0 ms | 20.0 ms"


@pytest.mark.parametrize(
    ("outcome", "blocks", "said"),
    [("timeout", (1, 2, 3), "timeout in steady"), ("wrong", (1,), "wrong result"),
     ("timeout", (2,), "baseline (timeout in steady 1/3)"), ("wrong", (1, 2, 3), "wrong result")],
)  # fmt: skip
def test_a_failed_baseline_shows_its_outcome(
    outcome: str, blocks: tuple[int, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = rows_of({"numpy": [0.02] * 3, JAX: [0.01] * 3})
    for row in rows:
        if row["stack"] == "numpy" and row["block"] in blocks:
            row |= {"outcome": outcome, "reason": "x", "phase": "steady"}
    lines = shown(analysis_of(rows), capsys)
    assert lines["numpy"].split(" | ")[2] == said
    untimed = [row | {"synced_seconds": None} if row["stack"] == "numpy" else row for row in rows]
    if len(blocks) == 3:
        assert shown(analysis_of(untimed), capsys)["numpy"].startswith(f"– | – | {said}")


def test_a_stack_that_failed_in_one_block_says_so_beside_its_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of({"numpy": [0.02] * 3, JAX: [0.01] * 3})
    rows[-1] |= {"outcome": "crashed", "phase": "steady", "reason": "x"}
    analysis = analysis_of(rows)
    assert "faster (crashed in steady 1/3)" in shown(analysis, capsys)[JAX]
    figures = analysis.comparisons[0].of(JAX)
    assert figures is not None
    told = stack_json(figures)
    assert (told["outcome"], told["speedup"]["verdict"], told["median_seconds"]) == (
        "crashed", "faster", pytest.approx(0.01))  # fmt: skip
