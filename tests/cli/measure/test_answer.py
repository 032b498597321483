"""What a finished run says on the console and as JSON: of what ended well, and of a baseline that failed."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from suite import results
from suite.cli.measure import answer
from suite.cli.terminal.output import print_tables
from suite.page.report import Report, report
from suite.page.sections.timed.comparisons import ComparisonsSection
from suite.sets.rows import Row
from tests.page.parts import found, part
from tests.plan_files import plan_file
from tests.results.rows import rows_of

JAX = "jax_jit"


def report_of(rows: list[Row]) -> Report:
    return report(results.Results(Path("set"), plan_file(), rows, [], {}), "numpy")


def in_json(made: Report, stack: str) -> dict[str, Any]:
    """What JSON has of a stack on the one question."""
    return next(told for told in part(made, ComparisonsSection).data()[0]["stacks"] if told["stack"] == stack)


def shown(made: Report, capsys: pytest.CaptureFixture[str]) -> dict[str, str]:
    print_tables(part(made, ComparisonsSection).console())
    cut = [[cell.strip() for cell in line.strip("|").split("|")] for line in capsys.readouterr().out.splitlines()]
    return {parts[0]: " | ".join(parts[1:]) for parts in cut if len(parts) > 1}


def test_the_console_has_median_speedup_verdict_and_times(capsys: pytest.CaptureFixture[str]) -> None:
    lines = shown(report_of(rows_of({"numpy": [0.02] * 3, JAX: [0.01] * 3})), capsys)
    assert lines["stack"].startswith("median | verdict | speedup over numpy | first run | peak memory | worst error")
    assert lines[JAX] == "10.0 ms | faster | 2.00× [2.00, 2.00] | 100 ms | – | 1.0e-07"
    assert lines["numpy"] == "20.0 ms | baseline | – | 200 ms | – | 1.0e-07"


@pytest.mark.parametrize(
    ("outcome", "blocks", "said"),
    [
        ("timeout", (1, 2, 3), "timeout in the steady runs"),
        ("wrong", (1,), "wrong result"),
        ("timeout", (2,), "baseline (timeout in the steady runs, 1 of 3)"),
        ("wrong", (1, 2, 3), "wrong result"),
    ],
)
def test_a_failed_baseline_shows_its_outcome(
    outcome: str, blocks: tuple[int, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = rows_of({"numpy": [0.02] * 3, JAX: [0.01] * 3})
    for row in rows:
        if row["stack"] == "numpy" and row["block"] in blocks:
            row |= {"outcome": outcome, "reason": "x", "phase": "steady"}
    lines = shown(report_of(rows), capsys)
    assert lines["numpy"].split(" | ")[1] == said
    untimed = [row | {"synced_seconds": None} if row["stack"] == "numpy" else row for row in rows]
    if len(blocks) == 3:
        assert shown(report_of(untimed), capsys)["numpy"].startswith(f"– | {said}")


def test_a_stack_that_failed_in_one_block_says_so_beside_its_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    rows = rows_of({"numpy": [0.02] * 3, JAX: [0.01] * 3})
    rows[-1] |= {"outcome": "crashed", "phase": "steady", "reason": "x"}
    made = report_of(rows)
    assert "faster (crashed in the steady runs, 1 of 3)" in shown(made, capsys)[JAX]
    told = in_json(made, JAX)
    assert (told["outcome"], told["verdict"], told["median_seconds"]) == ("crashed", "faster", pytest.approx(0.01))


def test_two_modes_are_said_with_best_mode_and_mean(capsys: pytest.CaptureFixture[str]) -> None:
    made = report_of(rows_of({"numpy": [0.02, 0.06, 0.06], JAX: [0.01] * 3}))
    lines = shown(made, capsys)
    assert lines["numpy"].split(" | ")[1] == "baseline (two modes)"
    assert lines[JAX].split(" | ")[1] == "undecided (the interval contains 1×)"
    [answer] = made.headlines
    assert "Processes of numpy run in two modes: the slowest takes 3.00× as long as the fastest. " in answer.text
    assert "The fastest process has a median of 20.0 ms, the typical one 41.6 ms." in answer.text
    told, fast = in_json(made, "numpy"), in_json(made, JAX)
    assert (told["two_modes"], told["best_seconds"], told["spread"]) == (True, 0.02, pytest.approx(3.0))
    assert (fast["two_modes"], fast["best_speedup"], fast["best_speedup_low"]) == (False, pytest.approx(2.0), None)


def test_more_than_two_stacks_in_two_modes_have_one_sentence() -> None:
    made = report_of(rows_of({"numpy": [0.02, 0.06, 0.06], JAX: [0.01, 0.02, 0.02], "tf_xla": [0.03, 0.05, 0.05]}))
    [answer] = made.headlines
    assert (
        "Processes of 3 stacks run in two modes (jax_jit, numpy, tf_xla): "
        "the slowest takes 1.67× to 3.00× as long as the fastest." in answer.text
    )
    assert "typical" not in answer.text


def test_the_summary_ranks_those_who_answered_every_question() -> None:
    rows = rows_of({"numpy": [0.02] * 3, JAX: [0.0099] * 3, "tf_xla": [0.01] * 3})
    rows += rows_of({"numpy": [0.02] * 3, JAX: [0.08] * 3}, pass_="train")
    made = report_of(rows)
    answer = found(made, "summary")
    assert answer.on_console
    table = answer.table.filter(over="all questions")
    assert table["stack", "answered", "lacks"].rows() == [("numpy", 2, ""), (JAX, 2, ""), ("tf_xla", 1, "gemm train")]
    assert table["mean"].arg_max() == 2, "it isn't ranked, though the mean of what it answered is greater"
    assert "Not ranked over all questions, since they lack a question: tf_xla (1 of 2)." in answer.also
    assert "none is over 1× (jax_jit 0.7" in answer.sentence


def test_the_sentence_and_its_table_have_one_unit(capsys: pytest.CaptureFixture[str]) -> None:
    """A time far below the others of its question: 0.0286 ms in both, not 28.6 µs in one."""
    times = {"numpy": [0.0021] * 3, "tf_xla": [0.0031] * 3, JAX: [0.0000286] * 3}
    made = report_of(rows_of(times))
    [answer] = made.headlines
    assert answer.text.startswith("Fastest for gemm forward: jax_jit, 0.0286 ms, ")
    assert shown(made, capsys)[JAX].startswith("0.0286 ms | ")
    swapped = report_of(rows_of({"numpy": [0.0000286] * 3, "tf_xla": [0.0031] * 3, JAX: [0.0021] * 3}))
    [markdown] = part(swapped, ComparisonsSection).tables()
    assert ["numpy", "0.0286 ms"] in markdown.lines


@pytest.mark.parametrize("implementation", ["a", ""])
def test_what_to_know_of_a_question_s_result_is_said_under_its_table(implementation: str) -> None:
    flags = (("graph_breaks", ""), ("noisy", ""), ("unverified", "1/3"))
    asked: Any = SimpleNamespace(
        head={"implementation": implementation}, timed=[SimpleNamespace(stack="torch_inductor:a", flags=flags)]
    )
    said = answer.doubts(asked)
    assert len(said) == (2 if implementation else 0)
    assert all(stack == "torch_inductor:a" for stack, _ in said)
