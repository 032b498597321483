"""The facts of README's sentences: each is that of its set's table, and a sentence without one isn't written."""

from __future__ import annotations

import re
from typing import Any

import pytest

from suite import results
from suite.errors import UserError
from suite.protocol import Protocol
from suite.results.analysis import analyse
from tests.results.rows import rows_of
from tests.results.test_within_set import two_ways
from tests.tools.figures.test_tables import THREE_QUESTIONS
from tools.figures import facts
from tools.figures.definitions import ROOT
from tools.figures.markers import published_tables
from tools.figures.tables import Source

LOADED = results.load(THREE_QUESTIONS)


def source_of(rows: Any, baseline: str = "jax_jit") -> Source:
    return Source("2026-11-24.cpu.0123456789ab", "", LOADED, analyse(rows, None, Protocol(), baseline, None))


def test_a_range_is_that_of_all_rows_and_a_verdict_is_counted() -> None:
    rows = facts.Factors([1.8, 1.16, 2.04], ["slower", "slower", "close"])
    assert str(rows) == "1.16 to 2.04" and rows.said("slower") == "slower on 2 of 3"
    assert str(facts.Factors([23.7], ["slower"]).all("slower")) == "23.7"
    with pytest.raises(UserError, match="every row of keras is slower; it is slower on 2 of 3"):
        facts.Factors(rows.values, rows.verdicts, "keras").all("slower")


def test_speedups_over_the_baseline_are_those_of_the_table() -> None:
    own = Source("x", "", LOADED, LOADED.analysis())
    found = facts.over_baseline(own, "jax_jit", "default")
    ratios = [c.of("jax_jit") for c in own.analysis.comparisons]
    assert found.values == [each.speedup.ratio.value for each in ratios if each and each.counts and each.speedup]
    with pytest.raises(UserError, match="no ratio of jax_jit, tuned track: a sentence says one"):
        facts.over_baseline(own, "jax_jit", "tuned")


def test_one_track_is_held_against_the_other_of_the_same_stack() -> None:
    found = facts.over_track(source_of(two_ways(track="tuned")), "jax_jit", "tuned", "default")
    assert str(found) == "2.00" and found.said("faster") == "faster on 1 of 1"
    with pytest.raises(UserError, match="no ratio of numpy, tuned"):
        facts.over_track(source_of(two_ways(track="tuned")), "numpy", "tuned", "default")


def test_keras_takes_as_long_as_the_row_says() -> None:
    times = {"jax_jit": [0.01] * 3, "keras_jax": [0.025] * 3}
    source = source_of([*rows_of(times), *rows_of(times, workload="rnn")])
    assert facts.unified_over_native([source, source], "keras_jax").values == pytest.approx([2.5] * 4)
    assert len(facts.unified_over_native([source], "keras_jax", "rnn").values) == 1
    assert len(facts.unified_over_native([source], "keras_jax", but="rnn").values) == 1
    with pytest.raises(UserError, match="no ratio of keras_torch"):
        facts.unified_over_native([source], "keras_torch")


def test_a_wrong_result_is_as_far_off_as_its_row_says() -> None:
    with pytest.raises(UserError, match="no wrong result of torch_xla on selu"):
        facts.wrong(Source("x", "", LOADED, LOADED.analysis()), "torch_xla", "selu")


def test_the_console_s_lines_are_those_of_a_run_of_these_stacks() -> None:
    question = "ffn train full"
    lines = facts.printed(Source("x", "", LOADED, LOADED.analysis()), ["torch_eager", "jax_jit"], [question])
    head, names, *_, last = lines.splitlines()
    assert head == question and names.startswith("| stack ") and " speedup over torch_eager " in names
    assert "| 12.5 ms | faster " in lines and "numpy" not in lines
    assert last.startswith("jax_jit leads ffn train full (1.75×")


def test_readme_s_console_and_table_are_of_one_set() -> None:
    standing = published_tables((ROOT / "README.md").read_text(encoding="utf-8"))
    assert standing["readme-console"].origin.sets == standing["readme"].origin.sets
    speedup = re.findall(r"jax_jit leads ffn train \(([\d.]+×)", standing["readme-console"].text)
    assert speedup and f"| `jax_jit` | {speedup[0]} |" in standing["readme"].text
