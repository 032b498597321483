"""The answer by frameworks is that of the pair of their best stacks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from suite import results
from suite.page.formats.render import page
from suite.page.map.frameworks import frameworks, pairs
from suite.page.report import Report, report
from suite.results.analysis import Analysis
from suite.stacks.catalog import STACKS
from tests.page import synthetic
from tests.page.map.test_sentence import analysed
from tests.plan_files import plan_file
from tests.results.rows import rows_of

TIMES = {"torch_eager": 0.020, "torch_inductor": 0.018, "jax_jit": 0.010, "jax_eager": 0.030, "tf_xla": 0.036}


def test_a_framework_s_best_stack_has_the_lowest_median_and_the_pair_the_table_s_ratio() -> None:
    analysis = analysed({64: TIMES}, "torch_eager")
    (question,) = analysis.comparisons
    found = pairs(question, analysis.pairing)
    assert [(pair.ours.stack, pair.base.stack) for pair in found] == [
        ("jax_jit", "torch_inductor"),
        ("tf_xla", "torch_inductor"),
    ]
    over = analysis.pairing.over("torch_inductor")
    assert [pair.speedup for pair in found] == [over[question.id, pair.ours.stack] for pair in found]
    said = frameworks(analysis)
    assert said.startswith("JAX runs gemm 1.80× as fast as PyTorch [") and "(10.0 against 18.0 ms, jit against " in said
    assert said.endswith(" and TensorFlow 0.500×")


def test_a_pair_that_is_not_shown_apart_has_its_word() -> None:
    said = frameworks(analysed({64: {"torch_eager": 0.0200, "jax_jit": 0.0201}}, "torch_eager"))
    assert re.search(r"PyTorch runs gemm 1\.00\d?× as fast as JAX \[[^]]*\], tie \(", said)


def test_of_many_questions_it_is_counted() -> None:
    times = {64 + n: {"torch_eager": 0.02, "jax_jit": 0.01 if n < 3 else 0.04} for n in range(5)}
    said = frameworks(analysed(times, "torch_eager"))
    assert said == "JAX is shown to be faster than PyTorch on 3 of 5 questions (2.00×) and slower on 2 (0.500×)"


@pytest.mark.parametrize(
    "stacks", [("torch_eager", "torch_inductor"), ("torch_eager:loop", "torch_eager:vmap", "jax_jit:scan")]
)
def test_one_framework_or_several_formulations_have_no_such_answer(stacks: tuple[str, ...]) -> None:
    asked = [stack.partition(":")[::2] for stack in stacks]
    rows = [row for stack, name in asked for row in rows_of({stack: [0.01, 0.0101, 0.0099]}, implementation=name)]
    assert frameworks(results.Results(Path("x"), None, rows, [], {}).analysis(stacks[0])) == ""


def test_one_block_gives_no_answer_by_frameworks(tmp_path: Path) -> None:
    assert frameworks(results.load(synthetic.write(tmp_path / "set", blocks=1)).analysis()) == ""


def test_the_answer_names_the_machine_if_the_cases_had_all_of_its_cores() -> None:
    def said(analysis: Analysis, cores: int) -> str:
        machine = {"cpu_model": "AMD EPYC", "cores_usable": [*range(cores)]}
        return Report(results.Results(Path("x"), None, list(analysis.rows), [], machine), analysis).frameworks

    analysis = analysed({64: TIMES}, "torch_eager")
    (threads,) = {row["threads"] for row in analysis.rows}
    assert said(analysis, threads).startswith(f"On this {threads}-core AMD EPYC JAX runs gemm 1.80×")
    assert said(analysis, threads + 1).startswith("JAX runs gemm 1.80×")


def test_every_stack_has_a_framework_in_its_own_name() -> None:
    named = {stack.framework for stack in STACKS.values()}
    assert {"NumPy", "JAX", "PyTorch", "PyTorch/XLA", "torchax", "TensorFlow", "Keras", "ONNX Runtime"} <= named


def test_questions_of_their_own_functions_have_one_choice_for_a_stack_and_a_page() -> None:
    rows = rows_of({"torch_eager": [0.02, 0.021, 0.02], "jax_jit": [0.01, 0.0101, 0.01]}, implementation="a")
    rows += rows_of({"torch_eager": [0.01] * 3, "jax_jit": [0.02] * 3}, implementation="b", dims={"n": 65})
    found = results.Results(Path("nowhere"), plan_file(baseline="torch_eager:a"), rows, [], {})
    overview = report(found).overview
    assert overview and set(overview.choices.items()) == {("torch_eager:a", "torch_eager"), ("jax_jit:a", "jax_jit")}
    assert overview.sentence.startswith("jax_jit:a leads") and "× torch_eager:a)" not in overview.sentence
    assert '<option value="torch_eager:a">torch_eager</option>' in page(found)
