"""The cells of a map: sign, words and colour never say more than the verdict does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from suite import units
from suite.environments import pythons
from suite.machine import devices
from suite.report.map.cells import SIGNS, STATES, shade, state_square, verdict_square
from suite.report.map.controls import page_map
from suite.report.map.metrics import STEADY
from suite.report.map.page_map import mean_squares
from suite.report.sections.timed.headlines import headlines, without_overtaken
from suite.report.sections.timed.units import column_units
from suite.results import Results
from suite.results.analysis import analyse
from suite.results.cases.rebased import rebased
from suite.results.outcomes import Cell, is_absent
from suite.results.speedup.verdicts import Speedup
from suite.results.stack_figures import StackFigures
from suite.run.start import engines
from suite.stacks.catalog import STACKS
from suite.stats import Estimate, Word
from tests.plan_files import plan_file
from tests.results.rows import rows_of


def speedup(word: Word, value: float, reason: str = "") -> Speedup:
    return Speedup(
        "q", "gemm", "jax_jit", "numpy", Estimate(value, 0.9, 1.2), word, {1: 0.0}, reason=reason, in_set=word
    )


@pytest.mark.parametrize("word", ["faster", "slower", "tie", "close", "undecided"])
def test_every_verdict_has_a_sign_and_a_word(word: Word) -> None:
    cell = verdict_square(speedup(word, 1.7), "jax_jit on gemm")
    assert cell.sign == SIGNS[word] and cell.css.split()[0] == word
    assert word in cell.title and word in f"{cell.words} {cell.verdict}"


def test_what_is_undecided_says_so_before_its_size_and_has_no_colour() -> None:
    cell = verdict_square(speedup("undecided", 1.7, "equal processes differ as much"), "jax_jit on gemm")
    assert (cell.words, cell.small, cell.shade) == ("undecided", "1.70× [0.900, 1.20]", 0)
    assert cell.note == "equal processes differ as much" and cell.css == "undecided"


def test_colour_is_even_in_both_directions() -> None:
    for value in (1.01, 1.1, 1.5, 2.0, 7.0):
        assert shade(value) == shade(1 / value)
    assert [shade(value) for value in (1.0, 1.1, 1.5, 2.0, 7.0)] == [0, 1, 2, 3, 4]
    assert verdict_square(speedup("slower", 0.5), "x").css == "slower s3"


@pytest.mark.parametrize(
    ("outcome", "kind"),
    [
        ("oom_host", "memory"),
        ("oom_compile", "memory"),
        ("wrong", "wrong"),
        ("implausible", "wrong"),
        ("timeout", "failed"),
        ("crashed", "failed"),
        ("not run", "waiting"),
    ],
)
def test_each_ending_has_its_sign_and_words(outcome: str, kind: str) -> None:
    cell = state_square(Cell("tf_xla", outcome, "first", "because", 0, 0, 3), "tf_xla on gemm")
    assert cell.kind == kind and cell.sign == STATES[kind][0] and cell.words
    assert "because" in cell.title


def test_what_the_machine_lacks_is_apart_from_what_a_stack_cant_do(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every reason that `engines.absent` can give is known as one of the machine's."""
    monkeypatch.setattr(pythons, "find", lambda version: None)
    monkeypatch.setattr(engines.compiler, "find", lambda: None)
    monkeypatch.setattr(engines.venv, "status", lambda *args: "missing")
    reasons = [engines.absent(stack, "", "cpu") for stack in STACKS.values()]
    reasons += [engines.absent(STACKS["jax_jit"], "nightly", "cpu")]
    reasons += [reason for reason in devices.missing().values() if reason]
    assert len([reason for reason in reasons if reason]) > 5
    assert [reason for reason in reasons if reason and not is_absent(reason)] == []
    for exclusion in (exclusion for stack in STACKS.values() for exclusion in stack.exclusions):
        assert not is_absent(exclusion.reason)
    lacking = Cell("jax_jit", "unsupported", "", "there is no lock for environment jax on tpu", 0, 0, 1)
    assert state_square(lacking, "x").words == "not installed here"
    assert state_square(Cell("numpy", "unsupported", "", "NumPy has no bf16", 0, 0, 1), "x").words == "unsupported"


def test_a_mean_says_how_many_questions_it_is_over_not_how_many_its_stack_answered() -> None:
    times = {"numpy": [0.02, 0.021, 0.0205], "jax_jit": [0.010, 0.0101, 0.0102], "tf_xla": [0.02, 0.022, 0.0195]}
    rows = [row for n in (64, 65, 66) for row in rows_of(times, dims={"n": n})]
    for row in rows[-9:]:  # tf_xla is wrong on the third question
        if row["stack"] == "tf_xla":
            row["outcome"] = "wrong"
    analysis = analyse(rows, plan_file(), plan_file().plan.protocol, "numpy", None)
    baseline, jit, xla = mean_squares(analysis, STEADY, ("numpy", "jax_jit", "tf_xla"))
    assert baseline.small == "the baseline"
    for square, answered in ((jit, 3), (xla, 2)):
        assert square.small.replace("\N{NO-BREAK SPACE}", " ").endswith("2 of 3")
        assert square.title.replace("\N{NO-BREAK SPACE}", " ").endswith(
            f"over the 2 of 3 questions that every stack answered; it answered {answered}"
        )


# By its restless processes numpy has the lowest median, though it isn't shown to be faster than anybody; jax_jit isn't
# slower than numpy, but slower than tf_xla.
RESTLESS = {
    "numpy": [0.0080, 0.0118, 0.0092, 0.0112, 0.0085, 0.0101],
    "tf_xla": [0.0100, 0.01001, 0.00999, 0.0100, 0.01002, 0.00998],
    "jax_jit": [0.0105, 0.01051, 0.01049, 0.0105, 0.01052, 0.01048],
}


def test_no_frame_is_around_a_stack_that_is_slower_than_the_chosen_baseline() -> None:
    analysis = analyse(rows_of(RESTLESS), plan_file(), plan_file().plan.protocol, "numpy", None)
    [own] = headlines(analysis)
    assert own.lowest == "numpy" and {*own.rivals} == {"tf_xla", "jax_jit"}
    shown = page_map(analysis, headlines(analysis), {})
    assert shown
    framed = {
        baseline: {stack: "leads" in cell[0].split() for stack, cell in zip(shown.data["stacks"], row, strict=True)}
        for baseline, of_baseline in shown.data["maps"]["steady"].items()
        for row in of_baseline["rows"]
    }
    assert framed["numpy"] == {"numpy": True, "tf_xla": True, "jax_jit": True}
    assert framed["tf_xla"] == {"numpy": True, "tf_xla": True, "jax_jit": False}
    [row] = shown.data["maps"]["steady"]["tf_xla"]["rows"]
    assert row[shown.data["stacks"].index("jax_jit")][0].startswith("slower")


def test_frames_are_those_of_the_answer_over_the_chosen_baseline_and_by_the_chosen_clock(loaded: Results) -> None:
    analysis = loaded.analysis()
    shown = page_map(analysis, headlines(analysis), {})
    assert shown
    stacks = shown.data["stacks"]
    seen = 0
    for metric, baselines in shown.data["maps"].items():
        for baseline, of_baseline in baselines.items():
            answers = headlines(rebased(analysis, baseline))
            for answer, row in zip(answers, of_baseline["rows"], strict=True):
                cells = {stack: cell[0].split() for stack, cell in zip(stacks, row, strict=True) if cell}
                framed = {stack for stack, css in cells.items() if "leads" in css}
                slower = {stack for stack, css in cells.items() if css[0] == "slower"}
                assert not framed & slower
                assert bool(framed) == (metric in ("steady", "first", "host"))
                if metric == "steady":
                    assert framed == {answer.lowest, *answer.rivals} - slower
                seen += len(framed)
    assert seen > 100


def test_no_frame_by_first_runs_is_around_a_stack_under_a_faster_one_without_a_frame() -> None:
    times = {stack: [0.02, 0.02, 0.02] for stack in ("numpy", "tf_graph", "tf_xla", "jax_jit")}
    analysis = analyse(rows_of(times), plan_file(), plan_file().plan.protocol, "numpy", None)
    by_name = {stack.stack: stack for stack in analysis.comparisons[0].stacks}

    def ratio(stack: str, value: float, high: float, word: Word) -> StackFigures:
        judged = Speedup("q", "gemm", stack, "numpy", Estimate(value, value / 2, high), word, {1: 0.0}, in_set=word)
        return replace(by_name[stack], speedup=judged)

    graph = ratio("tf_graph", 0.18, 0.25, "slower")
    under, wide = ratio("jax_jit", 0.12, 0.17, "undecided"), ratio("tf_xla", 0.12, 0.30, "undecided")
    order = (by_name["numpy"], graph, under, wide)
    assert without_overtaken(order, {"numpy", "jax_jit", "tf_xla"}) == {"numpy", "tf_xla"}
    assert without_overtaken(order, {"numpy", "tf_graph", "jax_jit"}) == {"numpy", "tf_graph", "jax_jit"}
    ahead = (ratio("tf_graph", 1.5, 1.9, "undecided"), ratio("tf_xla", 1.3, 1.4, "faster"), by_name["numpy"])
    assert without_overtaken(ahead, {"tf_graph", "tf_xla", "numpy"}) == {"tf_graph", "tf_xla"}, "the baseline is slower"


def test_each_cell_has_its_own_figure_of_what_the_map_shows(loaded: Results) -> None:
    analysis = loaded.analysis()
    shown = page_map(analysis, headlines(analysis), {})
    assert shown
    data, seen = shown.data, set()
    assert data["ends"]["memory"] == ("more memory", "less memory") and data["ends"]["first"] == ("slower", "faster")
    for place, comparison in enumerate(analysis.comparisons):
        unit = column_units(comparison)
        for column, name in enumerate(data["stacks"]):
            stack = comparison.of(name)
            if stack is None or not stack.counts:
                continue
            known = {metric: rows[place][column] for metric, rows in data["own"].items()}
            assert known == {
                "steady": unit.steady(stack.median.value),
                "first": unit.first(stack.first),
                "steps": "",
                "memory": units.quantity(stack.peak_bytes),
                "host": unit.steady(stack.fetch),
            }
            seen.add(name)
    assert len(seen) == 10


def test_a_cell_without_a_figure_says_why_and_has_no_star() -> None:
    one_block_each = [
        row
        for row in rows_of({"numpy": [0.02, 0.021], "jax_jit": [0.01, 0.011]})
        if (row["stack"], row["block"]) in (("numpy", 1), ("jax_jit", 2))
    ]
    analysis = analyse(one_block_each, plan_file(), plan_file().plan.protocol, "numpy", None)
    shown = page_map(analysis, headlines(analysis), {})
    assert shown
    [row] = shown.shown.rows
    [cell] = [square for square in row.squares if square.kind == "none"]
    assert cell.words == "\N{EN DASH}" and cell.note == "nothing to compare it with" and cell.css == "none"
