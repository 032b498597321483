"""Sentences and notices: of whole sets, and of unfinished ones."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from suite import results
from suite.answers.noise import readings
from suite.cli.terminal.output import print_tables
from suite.page.formats.export import export
from suite.page.formats.render import render
from suite.page.notices import account
from suite.page.report import report
from suite.page.sections.timed.comparisons import ComparisonsSection
from suite.page.sections.timed.headlines import headlines
from suite.results.analysis import Analysis, analyse
from suite.sets.rows import Row
from tests.page import synthetic
from tests.page.parts import found, part
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, make_set, record, row_of, rows_of

JAX = "jax_jit"
THREE = plan_file().plan.protocol


def told(rows: list[Row]) -> list[str]:
    """The notices on rows of a set without blocks' records."""
    analysis = analysis_of(rows)
    return [notice.text for notice in account(analysis, None, readings(analysis, (), ())).notices]


def analysis_of(rows: list[Row], baseline: str = "numpy") -> Analysis:
    return analyse(rows, plan_file(), THREE, baseline, None)


@pytest.fixture(scope="module")
def unfinished(tmp_path_factory: pytest.TempPathFactory) -> results.Results:
    """Three of five blocks of the synthetic set."""
    return results.load(synthetic.write(tmp_path_factory.mktemp("unfinished") / "part", blocks=3))


def test_an_unfinished_set_names_no_fastest_stack(unfinished: results.Results) -> None:
    answers = report(unfinished).headlines
    assert [answer.lead for answer in answers] == ["So far the lowest median"] * 3
    assert all(answer.text.startswith(f"So far the lowest median for {answer.question}: ") for answer in answers)
    assert not any("not run" in answer.text for answer in answers)
    selu = next(answer for answer in answers if answer.question == "selu forward")
    assert ". 3 of 10 stacks did not end ok." in selu.text  # what hasn't run yet hasn't failed
    [first, *_] = report(unfinished).notices
    assert "not complete: 64 planned processes" in first
    assert first.endswith("./stackwars run --resume=results/part")


def test_an_unfinished_set_shows_what_is_unsupported_as_such(unfinished: results.Results) -> None:
    made = report(unfinished)
    reason = synthetic.ENDINGS[synthetic.UNSUPPORTED_IN_PLAN]["reason"]
    lines = found(made, "endings").table.to_dicts()
    assert [f["reason"] for f in lines if (f["stack"], f["outcome"]) == ("torch_xla", "unsupported")] == [reason]
    assert made.facts["Blocks"] == "3"


def test_what_the_noise_hides_is_a_notice() -> None:
    rows = rows_of({"numpy": [0.02] * 3, JAX: [0.01] * 3}) + rows_of({"numpy": [0.02] * 3}, pass_="train")
    twins = [row_of(attempt_of(block=b, replicate=2), s) for b, s in enumerate([0.016, 0.025, 0.02], 1)]
    quiet = [row_of(attempt_of(block=b, replicate=2, pass_="train"), s) for b, s in enumerate([0.02, 0.0201, 0.02], 1)]
    tie, floors = told(rows + twins + quiet)
    assert tie.startswith("A tie (no difference over 3 %) was out of reach: the narrowest interval of a ratio is ±")
    assert floors == (
        "The noise floor is wider than ±10 % in 1 of 2 comparisons (gemm forward): no smaller difference is shown "
        "there."
    )
    assert told(rows + quiet) == []


def test_twins_that_surely_differ_are_a_notice_that_names_the_question() -> None:
    rows = rows_of({"numpy": [0.02] * 3, JAX: [0.01] * 3}) + rows_of({"numpy": [0.02] * 3}, pass_="train")
    twins = [row_of(attempt_of(block=b, replicate=2), s) for b, s in enumerate([0.0192, 0.0192, 0.01921], 1)]
    quiet = [row_of(attempt_of(block=b, replicate=2, pass_="train"), s) for b, s in enumerate([0.02, 0.0201, 0.02], 1)]
    [notice] = told(rows + twins + quiet)
    assert notice.startswith("Doubt the verdicts of gemm forward: numpy against itself (A/A) is 1.04× [1.")


@pytest.mark.parametrize("baseline", ["numpy", JAX, "torch_eager", "tf_xla"])
def test_an_answer_never_contradicts_its_table(baseline: str) -> None:
    """Forty small sets of nearly equal stacks, of which some verdicts are just so sure or just not."""
    decided = 0
    for seed in range(40):
        random = np.random.default_rng(seed)
        means = np.exp(random.normal(0, 0.04, 4))
        times = {
            stack: [float(0.02 * mean * np.exp(random.normal(0, 0.015))) for _ in range(3)]
            for stack, mean in zip(("numpy", JAX, "torch_eager", "tf_xla"), means, strict=True)
        }
        analysis = analysis_of(rows_of(times), baseline)
        [comparison], [answer] = analysis.comparisons, headlines(analysis)
        verdicts = {stack.stack: stack.speedup.verdict for stack in comparison.timed if stack.speedup}
        shown = set(times) - {answer.lowest} - set(answer.rivals)
        slower = {stack for stack, word in verdicts.items() if word == "slower"}
        decided += len(shown)
        assert slower <= shown
        assert baseline in shown if "faster" in verdicts.values() else True
        assert (answer.lead == "Fastest") == (not answer.rivals)
    assert decided > 20


@pytest.mark.parametrize(("seconds", "is_rival"), [(0.06, False), (0.0203, True)])
def test_a_stack_that_shared_no_block_with_the_leader_is_its_rival_only_if_the_table_leaves_it_open(
    seconds: float, is_rival: bool
) -> None:
    random = np.random.default_rng(1)
    spread = iter(np.exp(random.normal(0, 0.01, 16)))
    rows = [row_of(attempt_of(block=block), 0.02 * next(spread)) for block in range(1, 9)]
    rows += [row_of(attempt_of(JAX, block), 0.0197 * next(spread)) for block in range(1, 5)]
    rows += [row_of(attempt_of("torch_xla", block), seconds * next(spread)) for block in range(5, 9)]
    [answer] = headlines(analysis_of(rows))
    assert answer.lowest == JAX
    assert ("torch_xla" in answer.rivals) == is_rival


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
    sentence = (
        "On gemm forward the baseline numpy has no time that counts (crashed in the first run): jax_jit, the fastest "
        "that has one, stands in for it."
    )
    print_tables(part(report(loaded, "numpy"), ComparisonsSection).console())
    printed = " ".join(capsys.readouterr().out.split())
    assert sentence in printed and "speedup over jax_jit" in printed
    [answer] = report(loaded, "numpy").headlines
    assert "jax_jit, 10.1 ms (in place of the baseline numpy, which has no time that counts)" in answer.text
    assert sentence in report(loaded, "numpy").notices
    page = render(store.folder, tmp_path / "page.html", "numpy").read_text(encoding="utf-8")
    assert "Baseline: jax_jit, in place of numpy, which has no time that counts." in page
    assert "speedup over jax_jit" in page
    markdown = export(loaded, "numpy").written("md")
    assert sentence in markdown and "gemm forward (over jax_jit)" in markdown
    assert {line["stack"]: line["baseline"] for line in loaded.stacks("numpy").to_dicts()}["tf_xla"] == JAX


def test_a_long_first_run_of_the_fastest_stack_is_in_its_answer(capsys: pytest.CaptureFixture[str]) -> None:
    def answered(first_seconds: float | None) -> str:
        rows = rows_of({"numpy": [0.003] * 3, JAX: [0.001] * 3})
        firsts = {"numpy": 0.003, JAX: first_seconds}
        timed = [row | {"first_seconds": firsts[row["stack"]], "second_seconds": 0.003} for row in rows]
        made = report(results.Results(Path("set"), plan_file(), timed, [], {}), "numpy")
        [answer] = made.headlines
        print_tables(part(made, ComparisonsSection).console())
        assert " ".join(answer.rest.split()) in " ".join(capsys.readouterr().out.split())
        return answer.text

    assert answered(18.0).endswith(
        ". The first run of jax_jit takes 18.0 s; by the averages it is ahead of numpy in total time from step "
        "9,000 on."
    )
    assert "first run" not in answered(0.5)
    assert "first run" not in answered(None)
