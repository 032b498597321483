"""The one analysis: what a notebook computes is what the page shows, and the rules that are about a whole set."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from suite import results
from suite.case import Planned, Purpose
from suite.errors import UserError
from suite.machine.roofline import MemoryLevel, Roofline
from suite.page import notices
from suite.results.analysis import Analysis, analyse, raised
from suite.sets.rows import Row
from suite.stats import is_doubtful
from tests.plan_files import plan_file
from tests.results.rows import attempt_of, row_of, rows_of

SET = Path(__file__).parent / "sets" / "three_questions"
JAX = "jax_jit"
THREE = plan_file().plan.protocol


@pytest.fixture(scope="module")
def loaded() -> results.Results:
    return results.load(SET)


def analysis_of(rows: list[Row], baseline: str = "numpy", **plan: Any) -> Analysis:
    return analyse(rows, plan_file(**plan), THREE, baseline, None)


def test_a_notebook_s_tables_are_the_analysis(loaded: results.Results) -> None:
    analysis = loaded.analysis()
    shown = {(c.name, f.stack): f for c in analysis.comparisons for f in c.timed}
    stacks = {(line["question"], line["stack"]): line for line in loaded.stacks().iter_rows(named=True)}
    assert len(stacks) == 12 and len(shown) == 10
    for place, figures in shown.items():
        line = stacks[place]
        assert (line["median_seconds"], line["first_seconds"]) == (figures.median_seconds, figures.first_seconds)
        assert (line["outcome"], line["planned"]) == (figures.outcome, figures.planned)
        if figures.speedup:
            assert (line["speedup"], line["verdict"]) == (figures.speedup.ratio.value, figures.speedup.verdict)
    refused = stacks["llama train tiny", "numpy"]
    assert refused["outcome"] == "unsupported" and "numpy dialect" in refused["reason"]
    assert refused["median_seconds"] is None
    ratios = {
        (id_, stack): told for id_, stack, *told in loaded.ratios()["question_id", "stack", "value", "verdict"].rows()
    }
    assert ratios == {(s.comparison_id, s.stack): [s.ratio.value, s.verdict] for s in analysis.speedups}
    lines = loaded.summary().filter(over="all questions")
    assert [(s.stack, s.ratio and s.ratio.value, s.n_ok, s.n) for s in analysis.means()] == [
        *lines.filter(pl.col("stack") != analysis.baseline).select("stack", "mean", "answered", "questions").iter_rows()
    ]
    assert lines.filter(stack="numpy")["least"].item() == min(
        s.ratio.value for s in analysis.speedups if s.stack == "numpy"
    )


@pytest.mark.parametrize("table", ["ratios", "summary"])
def test_an_unknown_clock_is_refused_with_the_near_match(table: str, loaded: results.Results) -> None:
    with pytest.raises(UserError, match=r"no clock 'wall'.*Known: dispatch, fetch, first, pipelined, second, synced"):
        getattr(loaded, table)(clock="wall")
    with pytest.raises(UserError, match=r"Did you mean 'pipelined'"):
        getattr(loaded, table)(clock="pipeline")


def test_throughput_says_what_a_step_processes(loaded: results.Results) -> None:
    assert {c.name: c.item for c in loaded.analysis().comparisons} == {
        "ffn train full": "tokens",
        "gemm forward tiny": "rows",
        "llama train tiny": "tokens",
    }
    bare = results.load(SET / "results.parquet").analysis()
    assert {c.item for c in bare.comparisons} == {"items"}  # no plan says it


# --- sets that aren't complete ---


@pytest.mark.parametrize("known", ["by the plan", "by the first block"])
def test_an_unsupported_case_of_an_unfinished_set_is_unsupported(known: str) -> None:
    attempts = [attempt_of(stack, block) for block in (1, 2) for stack in ("numpy", JAX)]
    reason = "no such dialect"
    planned = [Planned(attempts[0].case), Planned(attempts[1].case, reason if known == "by the plan" else None)]
    rows = [row_of(attempts[0])]
    if known == "by the first block":
        rows.append(row_of(attempts[1], outcome="unsupported", reason=reason, synced_seconds=None))
    analysis = analysis_of(rows, attempts=tuple(attempts), cases=tuple(planned))
    [comparison] = analysis.comparisons
    cells = {cell.stack: (cell.outcome, cell.reason) for cell in comparison.cases}
    assert cells[JAX] == ("unsupported", reason)
    assert cells["numpy"][0] == "not run" and analysis.not_run == (1 if known == "by the plan" else 2)
    assert analysis.blocks == {1}


def test_a_baseline_that_was_planned_and_never_ran_has_no_ratio() -> None:
    attempts = tuple(attempt_of(stack) for stack in ("numpy", JAX))
    analysis = analysis_of([row_of(attempts[1])], attempts=attempts, cases=tuple(Planned(a.case) for a in attempts))
    assert analysis.speedups == () and [f.stack for f in analysis.comparisons[0].timed] == [JAX]
    with pytest.raises(UserError, match="Did you mean 'numpy'"):
        analysis_of([row_of(attempts[1])], "numpi", attempts=attempts)


# --- the A/A twin ---


def with_twin(stack: str, seconds: list[float], again: list[float], jax: list[float], **second: Any) -> list[Row]:
    """Three stacks; `stack` ran twice in every block."""
    rows = rows_of({"numpy": [0.02] * 3, "torch_eager": [0.02] * 3, JAX: jax} | {stack: seconds})
    return rows + [row_of(attempt_of(stack, b, replicate=2), s, **second) for b, s in enumerate(again, 1)]


@pytest.mark.parametrize("twin", ["numpy", "torch_eager"])
def test_nothing_inside_of_the_noise_floor_is_faster_or_slower(twin: str) -> None:
    """30 % in every block, by an interval of no width. Equal processes differ by up to 60 %: then it means nothing,
    whichever stack ran twice, and whatever it is compared with."""
    fast = [0.02 / 1.3] * 3
    quiet = analysis_of(with_twin(twin, [0.02] * 3, [0.02, 0.0201, 0.0199], fast))
    loud = analysis_of(with_twin(twin, [0.02] * 3, [0.016, 0.025, 0.02], fast))
    for analysis, word in ((quiet, "faster"), (loud, "undecided")):
        figures = analysis.comparisons[0].of(JAX)
        assert figures is not None and figures.speedup is not None
        assert figures.speedup.ratio.value == pytest.approx(1.3, rel=1e-4) and figures.speedup.verdict == word
        slower = {"faster": "slower", "undecided": "undecided"}[word]
        assert {s.verdict for s in analysis.pairing.over(JAX).values()} == {slower}
    noise = loud.comparisons[0].noise
    assert noise is not None and noise.stack == twin and not is_doubtful(noise.ratio, 0.95)
    assert (noise.ratio.low or 0) < 1 / 1.3 < 1.3 < (noise.ratio.high or 0)


@pytest.mark.parametrize(
    ("again", "doubtful"),
    [([0.02, 0.0201, 0.0199], False), ([0.016, 0.025, 0.02], False), ([0.0192, 0.0192, 0.01921], True)],
    ids=["quiet", "wide", "surely another"],
)
def test_a_floor_is_doubtful_if_equal_processes_surely_differ(again: list[float], doubtful: bool) -> None:
    noise = analysis_of(with_twin("numpy", [0.02] * 3, again, [0.01] * 3)).comparisons[0].noise
    assert noise is not None and is_doubtful(noise.ratio, 0.95) == doubtful
    assert (noise.verdict in ("faster", "slower")) == doubtful


def test_the_alarm_of_equal_processes_is_one_family_over_all_questions() -> None:
    """One of eight floors excludes 1 by itself, as one does in every third run on a quiet machine: no alarm."""
    rows = []
    for n in range(8):
        apart = 1.02 if n == 0 else 1.0
        rows += rows_of({"numpy": [0.02, 0.0201, 0.0199], JAX: [0.01] * 3}, dims={"n": 64 + n})
        rows += [
            row_of(attempt_of("numpy", block, replicate=2, dims={"n": 64 + n}), seconds * apart)
            for block, seconds in enumerate([0.0201, 0.0199, 0.02], 1)
        ]
    noise = [comparison.noise for comparison in analysis_of(rows).comparisons]
    [differs] = [twin for twin in noise if twin is not None and twin.ratio.high is not None and twin.ratio.high < 1]
    assert differs.ratio.p is not None and differs.ratio.p > 0.05 and differs.verdict == "undecided"


def test_one_block_gives_no_floor() -> None:
    rows = [row_of(attempt_of(stack), s) for stack, s in (("numpy", 0.02), (JAX, 0.01))]
    noise = analysis_of([*rows, row_of(attempt_of(replicate=2), 0.5)]).comparisons[0].noise
    assert noise is not None and noise.ratio.low is None and not is_doubtful(noise.ratio, 0.95)


def test_the_twin_s_flags_are_its_own() -> None:
    rows = with_twin("numpy", [0.02] * 3, [0.02] * 3, [0.01] * 3, flags=["noisy"])
    rows[0] |= {"flags": ["assumed"]}
    [comparison] = analysis_of(rows).comparisons
    figures = comparison.of("numpy")
    assert figures is not None and figures.flags == (("assumed", "1/3"),)
    assert comparison.noise_flags == (("noisy", ""),)
    assert [(p.block, p.replicate) for p in figures.processes] == [(1, 1), (2, 1), (3, 1), (1, 2), (2, 2), (3, 2)]


# --- the roofline ---


def test_the_roofline_is_raised_by_what_did_better() -> None:
    rows = [row_of(attempt_of(), 0.01, flops=100), row_of(attempt_of(JAX), 0.001, flops=100, outcome="wrong")]
    memory = (MemoryLevel(7.0, 0),)
    assert raised(Roofline({"f32": 500.0}, memory), rows) == Roofline({"f32": 100 / 0.01}, memory)
    assert raised(Roofline({"f32": 5e9}, memory), rows) == Roofline({"f32": 5e9}, memory)
    assert raised(None, rows) is None


@pytest.mark.parametrize("flag", ["implausible", "noisy", "no_steady_state"])
def test_a_flagged_row_raises_no_roof(flag: str) -> None:
    roof = Roofline({"f32": 500.0}, (MemoryLevel(7.0, 0),))
    assert raised(roof, [row_of(attempt_of(), 0.01, flops=100, flags=[flag])]) == roof


def test_a_roof_is_raised_in_its_own_precision_alone() -> None:
    row = row_of(attempt_of(precision="bf16"), 0.01, flops=100)
    assert raised(Roofline({"f32": 1.0}), [row]) == Roofline({"f32": 1.0})
    assert raised(Roofline({"f32": 1.0, "bf16": 1.0}), [row]) == Roofline({"f32": 1.0, "bf16": 1e4})


# --- kernels ---


def test_what_an_explain_process_was_told_stands_beside_its_stack() -> None:
    used = (
        '[{"calls":2,"isa":"avx512_core","library":"oneDNN","seconds":0.1},'
        '{"calls":null,"isa":null,"library":"ATen","seconds":null}]'
    )
    rows = rows_of({"numpy": [0.02] * 3, JAX: [0.01] * 3})
    explained = attempt_of(JAX, 0, purpose=Purpose.EXPLAIN)
    rows.append(row_of(explained, synced_seconds=None, kernels=used))
    analysis = analysis_of(rows)
    [comparison] = analysis.comparisons
    assert [(f.stack, f.kernels) for f in comparison.timed] == [(JAX, "oneDNN avx512_core; rest ATen"), ("numpy", "")]
    assert analysis.blocks == {1, 2, 3}, "it is in none of them"
    assert all(figures.planned == 3 for figures in comparison.timed), "nor a process that could count"


def test_an_explanation_that_has_no_row_is_planned_and_not_run() -> None:
    explained = attempt_of(JAX, 0, purpose=Purpose.EXPLAIN)
    rows = rows_of({JAX: [0.01] * 3})
    assert analysis_of(rows, cases=(Planned(explained.case),), attempts=(explained,), baseline=JAX).not_run == 1


def bare(rows: list[Row]) -> results.Results:
    """A Parquet file, whose plan nobody knows."""
    return results.Results(Path("results.parquet"), None, rows, [], {})


def test_a_bare_file_s_baseline_is_the_stack_that_ran_twice_in_a_block() -> None:
    rows = rows_of({"tf_xla": [0.03], "numpy": [0.02], JAX: [0.01]})
    assert bare(rows).baseline == "tf_xla", "the first one, if none did"
    twin = row_of(attempt_of("numpy", replicate=2), 0.02)
    assert bare([*rows, twin]).baseline == "numpy"
    assert bare(rows_of({"torch_eager": [0.03], JAX: [0.01]})[::-1]).baseline == JAX, "no name is preferred"
    assert bare([]).baseline == ""


def test_a_set_of_nothing_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing to report"):
        results.Results(tmp_path, plan_file(), [], [], {}).analysis()


def test_results_are_immutable(loaded: results.Results) -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        loaded.rows = []  # type: ignore[misc]


def failed_baseline(**wrong: Any) -> list[Row]:
    """Four stacks on two questions; numpy, the baseline, fails the gate in the training step."""
    times = {
        "numpy": [0.02] * 3,
        JAX: [0.01, 0.0101, 0.0102],
        "tf_xla": [0.04, 0.0401, 0.0402],
        "torch_eager": [0.03, 0.0302, 0.0299],
    }
    train = rows_of(times, pass_="train")
    return rows_of(times) + [row | wrong if row["stack"] == "numpy" else row for row in train]


def test_the_fastest_that_counts_stands_in_for_a_baseline_that_failed() -> None:
    analysis = analysis_of(failed_baseline(outcome="wrong", reason="loss"))
    whole, failed = analysis.comparisons
    assert (whole.name, whole.baseline, whole.stands_in_for) == ("gemm forward", "numpy", "")
    assert (failed.name, failed.baseline, failed.stands_in_for) == ("gemm train", JAX, "numpy")
    ratios = {figures.stack: figures.speedup for figures in failed.timed}
    assert [figures.stack for figures in failed.timed if figures.is_baseline] == [JAX]
    assert ratios["numpy"] is None and ratios[JAX] is None, "what is wrong is in no ratio"
    over = ratios["tf_xla"]
    assert over is not None and (over.baseline, over.ratio.value) == (JAX, pytest.approx(0.2525, rel=1e-2))
    planned = analyse(failed_baseline(outcome="wrong", reason="loss"), None, analysis.protocol, JAX, None, JAX)
    alone = planned.pairing.over(JAX)[failed.id, "tf_xla"]
    assert over.ratio.low is not None and alone.ratio.low is not None
    assert over.ratio.low < alone.ratio.low, "who stands in was chosen by these times: the interval is wider"
    assert {(line.n_ok, line.n) for line in analysis.means()} == {(1, 1)}, "no mean has a ratio over another stack"


def test_a_stack_that_was_faster_than_the_machine_can_be_is_in_no_ratio_and_not_the_fastest() -> None:
    rows = rows_of({"numpy": [0.02] * 3, JAX: [1e-6] * 3, "tf_xla": [0.01, 0.0101, 0.0102]})
    rows = [row | {"flags": ["implausible"]} if (row["stack"], row["block"]) == (JAX, 2) else row for row in rows]
    [comparison] = analysis_of(rows).comparisons
    figures = {stack.stack: stack for stack in comparison.timed}
    assert not figures[JAX].counts and figures[JAX].outcome == "implausible" and figures[JAX].speedup is None
    assert figures["tf_xla"].speedup is not None
    assert [stack.stack for stack in comparison.timed] == ["tf_xla", "numpy", JAX], "those that count come first"
    [notice] = [text for text in notices.wrong([comparison]) if JAX in text]
    assert notice.startswith("Times that can't be, left out of every ratio: jax_jit in ")


def test_nobody_stands_in_where_there_is_nothing_to_compare() -> None:
    alone = [row for row in failed_baseline(outcome="error") if row["stack"] not in ("tf_xla", "torch_eager")]
    assert [each.stands_in_for for each in analysis_of(alone).comparisons] == ["", ""], "one stack has no rival"
    planned = attempt_of("numpy", pass_="train")
    rows = [row for row in failed_baseline() if (row["stack"], row["pass"]) != ("numpy", "train")]
    waiting = analysis_of(rows, cases=(Planned(planned.case),), attempts=(planned,))
    assert [each.stands_in_for for each in waiting.comparisons] == ["", ""], "the baseline may still run"
