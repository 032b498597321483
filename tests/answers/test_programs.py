"""Programs on the page and on the console: counts side by side, regions, and what differs."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import asdict
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest

from suite import results
from suite.answers.differences import NONE
from suite.answers.programs import spread
from suite.cli.sets.programs import ir
from suite.cli.terminal.progress import line
from suite.errors import UserError
from suite.page.formats.export import export
from suite.page.formats.render import render
from suite.results.questions.programs import program_questions
from suite.sets.arrow import to_table
from suite.sets.rows import Row
from tests.answers.asking import answered, asked
from tests.ir.programs import program
from tests.page.test_report import Page
from tests.results.questions.test_programs import ir_row, rows
from tests.results.rows import attempt_of, row_of

NAMES = "gpt2-tiny-train-f32-cpu-{}"


def test_least_and_greatest_are_told_with_their_stacks() -> None:
    assert spread([(1840, "tf_xla"), (2415, "jax_jit"), (2749, "torch_xla")]) == "1,840 (tf_xla) to 2,749 (torch_xla)"
    assert spread([(3, "a"), (3, "b")]) == "3"


@pytest.fixture
def kept(tmp_path: Path) -> Path:
    """A file of rows."""
    file = tmp_path / "results.parquet"
    pq.write_table(to_table(rows()), file)
    return file


def told(rows: list[Row], part: str) -> dict[tuple[str, str], tuple[str, float | None, float | None]]:
    """{(quantity, stack): (text, count, bytes)} of a part of the answer."""
    lines = answered("programs", rows).table.filter(pl.col("part") == f"gpt2 train: {part}").to_dicts()
    return {(line["quantity"], line["stack"]): (line["told"], line["count"], line["bytes"]) for line in lines}


def test_counts_stand_side_by_side() -> None:
    step = told(rows(), "the step's program")
    assert {stack for _, stack in step} == {"jax_jit", "torch_xla"}
    kept = "results with newly allocated memory"
    assert step[kept, "jax_jit"] == ("1, 4.00 B", 1, 4)
    assert step[kept, "torch_xla"] == ("149, 1.00 GiB", 149, 2**30)
    assert [step["compiled: of these, fusion", stack][1] for stack in ("jax_jit", "torch_xla")] == [40, 40]
    (region,) = {(text, count) for text, count, _ in told(rows(), "how regions were lowered").values()}
    assert region == ("25 × enumerated: squared differences", 25)
    assert step["GFLOP by XLA's cost analysis", "jax_jit"][:2] == ("1.00", 1e9)
    assert told(rows(), "stacks without some program") == {
        ("why", "tf_xla"): ("it couldn't be read", None, None),
        ("why", "torch_eager"): ("it has no compiler", None, None),
    }
    assert answered("programs", rows()).sentence == (
        "gpt2 train: Operations handed to the compiler: 100; run, once compiled: 50."
    )


def test_generated_code_has_its_kernels() -> None:
    generated = {"name": "x", "steps": ["first"], "told_by": "y", "contents": None, "compiled": None}
    row = ir_row("torch_inductor", programs=json.dumps([generated | {"kernels": {"gemm": 3}}] * 2), graph_breaks=1)
    shown = told([row], "kernels that generated code calls")
    assert {quantity: count for (quantity, _), (_, count, _) in shown.items()} == {
        "graphs": 2,
        "graph breaks": 1,
        "compilations in three steps, by the framework's count": None,
        "gemm": 6,
    }
    assert asked("differences", [row]) is None


def test_what_differs_has_its_counts_in_json(kept: Path) -> None:
    found = json.loads(export(results.load(kept)).written("json"))
    (difference,) = found["differences"]
    assert (difference["stack"], difference["beside"]) == ("jax_jit", "torch_xla")
    assert [(each["quantity"], each["first_count"], each["second_count"]) for each in difference["counts_of_both"]] == [
        ("results kept", "1", "149"),
        ("their size", "4.00 B", "1.00 GiB"),
    ]
    assert found["answers"]["differences"] == "1 difference: 1 between jax_jit and torch_xla on gpt2 train."


def test_programs_without_a_difference_say_so() -> None:
    found = answered("differences", [ir_row("jax_jit"), ir_row("tf_xla")])
    assert found.sentence.startswith("0 differences")
    assert [(line["difference"], line["counts_of_both"]) for line in found.table.to_dicts()] == [(NONE.text, [])]


def test_a_page_of_programs_alone_is_whole(kept: Path) -> None:
    page = Page(render(kept).read_text(encoding="utf-8"))
    assert not page.open
    assert "gpt2: what the stacks hand to their compilers" in page.text
    assert "torch_xla keeps 149 results alive" in page.text
    assert "it has no compiler" in page.text


def test_two_cases_are_compared_on_the_console(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ir(set=str(kept), case=(NAMES.format("jax_jit"), NAMES.format("torch_xla")))
    printed = capsys.readouterr().out
    assert "torch_xla keeps 149 results alive" in printed
    ir(set=str(kept), case=tuple([NAMES.format("jax_jit")] * 2))
    assert "have equal counts" in capsys.readouterr().out
    ir(set=str(kept))
    listed = capsys.readouterr().out
    assert NAMES.format("tf_xla") in listed and "it couldn't be read" in listed


def test_a_stack_whose_compiled_program_could_not_be_read_has_the_rest_and_the_reason(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    half = dataclasses.replace(program(), compiled=None, unread="made by the XLA of TensorFlow 9.9")
    file = tmp_path / "results.parquet"
    row = ir_row("tf_xla", programs=json.dumps([asdict(half)]))
    pq.write_table(to_table([ir_row("jax_jit"), row]), file)
    (question,) = program_questions([ir_row("jax_jit"), row])
    reason = "what its compiler made of it couldn't be read: made by the XLA of TensorFlow 9.9"
    assert question.without == (("tf_xla", reason),)
    step = told([ir_row("jax_jit"), row], "the step's program")
    assert [step[quantity, "tf_xla"][:2] for quantity in ("operations", "compiled: operations")] == [
        ("100", 100),
        ("–", None),
    ]
    ir(set=str(file))
    assert f"1; {reason}" in " ".join(capsys.readouterr().out.split())
    ir(set=str(file), case=(NAMES.format("jax_jit"), NAMES.format("tf_xla")))
    assert f"tf_xla: {reason}\n" in capsys.readouterr().out
    assert line(row).endswith(f"tf_xla  1 kept; {reason}")
    assert reason in Page(render(file).read_text(encoding="utf-8")).text


def test_every_question_is_a_section_in_markdown(kept: Path, capsys: pytest.CaptureFixture[str]) -> None:
    ir(set=str(kept), markdown=True)
    printed = capsys.readouterr().out
    assert "gpt2 train: the step's program" in printed
    assert "| operations | 100 | 100 |" in printed
    assert "| gpt2 train | jax_jit | torch_xla | torch_xla keeps 149 results alive" in printed


@pytest.mark.parametrize(
    ("cases", "said"),
    [
        (["jax_jit"], "two cases"),
        ([NAMES.format("jax_jt"), NAMES.format("tf_xla")], f"Did you mean '{NAMES.format('jax_jit')}'"),
        ([NAMES.format("jax_jit"), NAMES.format("tf_xla")], "error: it couldn't be read"),
        ([NAMES.format("jax_jit"), NAMES.format("torch_eager")], "unsupported: it has no compiler"),
    ],
)
def test_what_can_t_be_compared_is_said(kept: Path, cases: list[str], said: str) -> None:
    with pytest.raises(UserError, match=said):
        ir(set=str(kept), case=tuple(cases))


def test_generated_code_is_not_compared(tmp_path: Path) -> None:
    file = tmp_path / "results.parquet"
    generated = '[{"name": "x", "steps": ["first"], "told_by": "y", "contents": null, "compiled": null, "kernels": {}}]'
    pq.write_table(to_table([ir_row("jax_jit"), ir_row("torch_inductor", programs=generated)]), file)
    with pytest.raises(UserError, match="torch_inductor generates code"):
        ir(set=str(file), case=(NAMES.format("jax_jit"), NAMES.format("torch_inductor")))


def test_a_set_without_programs_says_how_to_get_some(tmp_path: Path) -> None:
    file = tmp_path / "results.parquet"
    pq.write_table(to_table([row_of(attempt_of("jax_jit"))]), file)
    with pytest.raises(UserError, match="stackwars run --purpose=ir"):
        ir(set=str(file))
