"""The cells of a map: sign, words and colour never say more than the verdict does."""

from __future__ import annotations

from pathlib import Path

import pytest

from suite import units
from suite.environments import pythons
from suite.machine import devices
from suite.page.formats.render import page_of
from suite.page.map.cells import SIGNS, STATES, colour, ratio_square, state_square
from suite.page.map.controls import PageMap
from suite.page.map.means import mean_rows
from suite.page.map.metrics import STEADY
from suite.page.report import report
from suite.page.sections.labels import comparison_anchor
from suite.page.sections.timed.units import column_units
from suite.results import Results, load
from suite.results.analysis import analyse
from suite.results.case_row import CaseRow
from suite.results.outcomes import is_absent
from suite.run.start import engines
from suite.stacks.catalog import STACKS
from suite.stats import Estimate, Word
from tests.plan_files import plan_file
from tests.results.rows import rows_of


@pytest.mark.parametrize("word", ["faster", "slower", "tie", "close", "undecided"])
def test_every_verdict_has_a_sign_and_a_word(word: Word) -> None:
    cell = ratio_square(Estimate(1.7, 0.9, 1.2), word)
    assert cell.sign == SIGNS[word] and cell.css.split()[0] == word
    assert word in cell.title and word in f"{cell.words} {cell.verdict}"


def test_what_is_undecided_says_so_before_its_size_and_has_no_colour() -> None:
    cell = ratio_square(Estimate(1.7, 0.9, 1.2), "undecided", note="equal processes differ as much")
    assert (cell.words, cell.small, cell.colour) == ("undecided", "1.70× [0.900, 1.20]", "")
    assert cell.note == "equal processes differ as much" and cell.css == "undecided"


def test_colour_is_even_in_both_directions() -> None:
    for value in (1.01, 1.1, 1.5, 2.0, 7.0):
        assert colour(value)[1:] == colour(1 / value)[1:]
    assert [colour(value) for value in (1.0, 1.1, 1.5, 2.0, 7.0)] == ["", "f1", "f2", "f3", "f4"]
    assert ratio_square(Estimate(0.5, 0.4, 0.6), "slower").css == "slower s3"


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
    cell = state_square(CaseRow("tf_xla", outcome, "first", "because", 0, 3))
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
    lacking = CaseRow("jax_jit", "unsupported", "", "there is no lock for environment jax on tpu", 0, 1)
    assert state_square(lacking).words == "not installed here"
    assert state_square(CaseRow("numpy", "unsupported", "", "NumPy has no bf16", 0, 1)).words == "unsupported"


def test_a_stack_that_lacks_a_question_has_no_mean_and_takes_no_question_from_the_others() -> None:
    times = {"numpy": [0.02, 0.021, 0.0205], "jax_jit": [0.010, 0.0101, 0.0102], "tf_xla": [0.02, 0.022, 0.0195]}
    rows = [row for n in (64, 65, 66) for row in rows_of(times, dims={"n": n})]
    for row in rows[-9:]:  # tf_xla is wrong on the third question
        if row["stack"] == "tf_xla":
            row["outcome"] = "wrong"
    analysis = analyse(rows, plan_file(), plan_file().plan.protocol, "numpy", None)
    [row] = mean_rows(analysis, STEADY, ("numpy", "jax_jit", "tf_xla"))
    baseline, jit, xla = row.squares
    assert row.over == "all questions: 3" and baseline.small == "the baseline"
    assert jit.words == "2.03×" and xla.words == units.UNKNOWN
    assert xla.small.replace("\N{NO-BREAK SPACE}", " ") == "2 of 3"


def test_each_track_has_a_row_of_means_where_it_has_two_questions() -> None:
    rows = []
    for track, jit in (("default", 0.01), ("tuned", 0.04)):
        for n in (64, 65, 66):
            rows += rows_of(
                {"numpy": [0.02] * 3, "jax_jit": [jit] * 3, "tf_xla": [0.02] * 3}, dims={"n": n}, track=track
            )
    rows = [row for row in rows if row["stack"] != "tf_xla" or row["track"] == "default"]
    analysis = analyse(rows, plan_file(), plan_file().plan.protocol, "numpy", None)
    shown = {
        row.over: [square.words for square in row.squares] for row in mean_rows(analysis, STEADY, ("jax_jit", "tf_xla"))
    }
    assert shown == {"default track: 3": ["2.00×", "1.00×"], "tuned track: 3": ["0.500×", units.UNKNOWN]}
    assert PageMap(analysis).sentence == (
        "default track: jax_jit leads all 3 questions alone (2.00× numpy); "
        "tuned track: numpy leads all 3 questions alone."
    )


def test_each_cell_has_its_own_figure_of_what_the_map_shows(loaded: Results) -> None:
    analysis = loaded.analysis()
    shown = PageMap(analysis)
    data, seen = shown.data, set()
    assert data["metrics"]["memory"]["ends"] == ("more memory", "less memory")
    assert data["metrics"]["first"]["ends"] == ("slower", "faster")
    for comparison in analysis.comparisons:
        unit, id_ = column_units(comparison), comparison_anchor(comparison)
        for name in data["stacks"]:
            stack = comparison.of(name)
            if stack is None or not stack.counts:
                continue
            known = {metric: shown["own"][id_][name] for metric, shown in data["metrics"].items()}
            assert known == {
                "steady": unit.steady(stack.median_seconds),
                "first": unit.first(stack.first_seconds),
                "steps": "",
                "memory": units.quantity(stack.peak_bytes),
                "host": unit.steady(stack.fetch_seconds),
            }
            seen.add(name)
    assert len(seen) == 10


def test_a_cell_names_its_flags_over_every_baseline_and_what_is_assumed_is_counted_once() -> None:
    [folder] = (Path(__file__).parents[3] / "sets").glob("*.dd0d4e76*")  # that of README's table
    made = report(load(folder))
    page = made.overview
    assert page and made.assumed == (
        "Steady state is assumed, not shown, in 26 of 66 processes: 26 of 33 on ffn train."
    )
    ffn, column = [each.name for each in page.shown.rows].index("ffn train"), page.stacks.index("jax_jit")
    shown = page.shown.rows[ffn].squares[column]
    assert shown.note == "no steady state 1/3" and shown.is_noted and "noted" in shown.css
    assert not any("assumed" in square.note for row in page.shown.rows for square in row.squares)
    assert "A/A twin: no steady state 1/3" in {square.note for row in page.shown.rows for square in row.squares}
    for baseline, chosen in page.data["metrics"]["steady"]["maps"].items():  # as the script shows it
        cell = chosen["cells"][page.shown.rows[ffn].anchor]["jax_jit"]
        assert cell["note"].endswith("no steady state 1/3"), baseline
        assert "noted" in cell["css"].split() or cell["words"] == "undecided", "it shows its note in itself"
    assert page_of(made).count(made.assumed) == 1


def test_a_cell_without_a_figure_says_why_and_has_no_star() -> None:
    one_block_each = [
        row
        for row in rows_of({"numpy": [0.02, 0.021], "jax_jit": [0.01, 0.011]})
        if (row["stack"], row["block"]) in (("numpy", 1), ("jax_jit", 2))
    ]
    analysis = analyse(one_block_each, plan_file(), plan_file().plan.protocol, "numpy", None)
    shown = PageMap(analysis)
    [row] = shown.shown.rows
    [cell] = [square for square in row.squares if square.kind == "none"]
    assert cell.words == "\N{EN DASH}" and cell.note == "nothing to compare it with" and cell.css == "none leads"
