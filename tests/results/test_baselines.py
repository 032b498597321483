"""The analysis over another baseline equals the one that the set's own command computes from its rows."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from suite import results
from suite.results.analysis import analyse
from suite.results.baselines import rebased
from suite.results.shown import only
from tests.plan_files import plan_file
from tests.results.rows import rows_of

SETS = Path(__file__).parent / "sets"


@pytest.fixture(scope="module")
def loaded() -> results.Results:
    return results.load(SETS / "three_questions")


def test_every_baseline_is_as_the_set_has_it_itself(loaded: results.Results) -> None:
    analysis = loaded.analysis()
    stacks = {cell.stack for comparison in analysis.comparisons for cell in comparison.cases}
    assert len(stacks) > 1
    for stack in stacks:
        ours, theirs = rebased(analysis, stack), loaded.analysis(stack)
        assert ours.speedups == theirs.speedups
        assert ours.means() == theirs.means()
        assert ours.comparisons == theirs.comparisons
        assert ours.baseline == stack


@pytest.mark.parametrize("clock", ["first", "fetch"])
def test_another_clock_is_that_of_ratios(loaded: results.Results, clock: str) -> None:
    analysis = loaded.analysis()
    for baseline in {speedup.stack for speedup in analysis.speedups}:
        frame = loaded.ratios(baseline=baseline, clock=clock)
        expected = {
            (name, stack): figures
            for name, stack, *figures in frame.select("question_id", "stack", "value", "verdict").iter_rows()
        }
        found = {
            (each.id, figures.stack): [speedup.ratio.value, speedup.verdict]
            for each in rebased(analysis, baseline, clock).comparisons
            for figures in each.timed
            if (speedup := figures.speedup)
        }
        assert found == expected


def test_means_of_some_questions_are_of_these_alone() -> None:
    analysis = results.load(SETS / "three_questions").analysis()
    passes = {comparison.head.text("pass") for comparison in analysis.comparisons}
    assert len(passes) == 2 and analysis.speedups
    for pass_ in passes:
        ids = {comparison.id for comparison in analysis.comparisons if comparison.head.text("pass") == pass_}
        for line in analysis.means({"pass": pass_}):
            logs = [
                math.log(speedup.ratio.value)
                for speedup in analysis.speedups
                if speedup.stack == line.stack and speedup.comparison_id in ids
            ]
            assert line.n_ok == len(logs) and line.n <= len(ids)
            if line.ratio:
                assert line.ratio.value == pytest.approx(math.exp(sum(logs) / len(logs)))


def test_each_question_of_its_own_functions_has_its_counterpart_of_the_baseline() -> None:
    rows = rows_of({"numpy": [0.02] * 3, "jax_jit": [0.01] * 3}, implementation="a")
    rows += rows_of({"numpy": [0.01] * 3, "jax_jit": [0.02] * 3}, implementation="b", dims={"n": 65})
    found = analyse(rows, None, plan_file().plan.protocol, "numpy:a", None)
    assert [each.baseline for each in found.comparisons] == ["numpy:a", "numpy:b"]
    ratios = [case.speedup.ratio.value for each in found.comparisons for case in each.timed if case.speedup]
    assert ratios == pytest.approx([2.0, 0.5]) and not any(each.stands_in_for for each in found.comparisons)
    assert found.baseline_words == "numpy" and rebased(found, "jax_jit:b").comparisons[0].baseline == "jax_jit:a"
    assert len(found.speedups) == 2 and only(found, ["jax_jit:*"]).hidden == (), "a question's baseline is always shown"
