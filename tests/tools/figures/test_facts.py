"""The facts of README's sentences: each is that of its set's table, and a sentence without one isn't written."""

from __future__ import annotations

from typing import Any

import pytest

from suite import results
from suite.errors import UserError
from suite.protocol import Protocol
from suite.results.analysis import analyse
from tests.results.rows import rows_of
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


def test_speedups_over_the_baseline_are_those_of_the_table() -> None:
    own = Source("x", "", LOADED, LOADED.analysis())
    found = facts.over_baseline(own, "jax_jit", "default")
    ratios = [c.of("jax_jit") for c in own.analysis.comparisons]
    assert found.values == [each.speedup.ratio.value for each in ratios if each and each.counts and each.speedup]
    with pytest.raises(UserError, match="no ratio of jax_jit, tuned track: a sentence says one"):
        facts.over_baseline(own, "jax_jit", "tuned")


def test_two_frameworks_are_told_as_the_page_tells_them_and_only_if_the_set_shows_it() -> None:
    source = source_of(rows_of({"jax_jit": [0.01, 0.0101, 0.0099], "torch_eager": [0.02, 0.0201, 0.0199]}))
    said = facts.of_frameworks(source, "gemm forward", "JAX", "PyTorch", "multiplies")
    assert said.startswith("JAX multiplies 2.00× as fast as PyTorch [")
    assert "(10.0 against 20.0 ms, jit against eager)" in said
    with pytest.raises(UserError, match="PyTorch is faster than JAX on gemm forward; the set doesn't show that"):
        facts.of_frameworks(source, "gemm forward", "PyTorch", "JAX", "multiplies")


def test_a_wrong_result_is_told_with_the_frameworks_that_return_it() -> None:
    reason = "forward output: off (at [5] 5 in place of 4, by a reference)"
    times = {"jax_jit": [0.01], "torch_eager": [0.02], "torch_inductor": [0.02], "tf_xla": [0.01]}
    rows = [
        row | ({"outcome": "wrong", "reason": reason} if row["stack"] in ("torch_inductor", "tf_xla") else {})
        for row in rows_of(times)
    ]
    told = facts.wrong(source_of(rows), "gemm")
    assert "PyTorch (torch.compile)" in told and "TensorFlow" in told and told.endswith(" return 5 in place of 4")
    with pytest.raises(UserError, match="one wrong result of gemm; the set has 0"):
        facts.wrong(source_of(rows_of(times)), "gemm")


def test_the_console_s_lines_are_those_of_a_run_of_these_stacks() -> None:
    question = "ffn train full"
    lines = facts.printed(Source("x", "", LOADED, LOADED.analysis()), ["torch_eager", "jax_jit"], [question])
    head, names, *_, last = lines.splitlines()
    assert head == question and names.startswith("| stack ") and " speedup over torch_eager " in names
    assert "| 12.5 ms | faster " in lines and "numpy" not in lines
    assert last.startswith("jax_jit leads ffn train full (1.75×")


def test_readme_says_how_many_questions_of_threads_are_answered() -> None:
    answered = published_tables((ROOT / "docs" / "findings" / "gallery.md").read_text(encoding="utf-8"))
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert f"[{len(answered)} answered](docs/findings/gallery.md)" in readme
    assert f"[{len([*(ROOT / 'examples').glob('*.py')])} questions from public threads]" in readme
