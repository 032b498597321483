"""The sweep of small questions: what is drawn, when two answers are the same, what is minimised, and the kept page."""

from __future__ import annotations

import subprocess
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from suite.environments import venv
from tools.sweep import findings
from tools.sweep.__main__ import differing
from tools.sweep.findings import KEPT, PAGE, Finding, Known, about, known, page, rows
from tools.sweep.questions import COPIES, FAMILIES, Question, is_normal, questions
from tools.sweep.reports import FOLDER, reports
from tools.sweep.stacks import Refused

OF = {family.name: family for family in FAMILIES}
SQUARE = Question(OF["wrap-around"], "abs(x * x)", "int8")
DIVISION = Question(OF["float division"], "floor_divide(x, y)", "float32")


class Place:
    """An environment whose one stack answers by a function; None: it refuses, and a number: its process ends."""

    def __init__(self, answer: Any) -> None:
        self.function, self.process, self.asked = answer, object(), 0

    def answer(self, stack: str, question: Question, x: Any, y: Any) -> Any:
        self.asked += 1
        with np.errstate(all="ignore"):
            found = self.function(x, y)
        if found is None or isinstance(found, int):
            self.process = object() if found is None else None  # type: ignore[assignment]
            raise Refused(f"the process ended with {found}")
        return found


def found(question: Question, answer: Any) -> list[Finding]:
    return [*differing(Place(answer), "of mine", question, 200)]  # type: ignore[arg-type]


def test_every_question_has_an_answer_by_numpy_for_all_that_is_drawn() -> None:
    for question in questions():
        x, y = question.arguments([(1, 1)] if question.dtype != "float32" else [(1.0, 1.0)])
        right = question.right(x, y)
        assert right.shape in ((), (COPIES,)) and question.same(right, right, y).all(), question.text


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_numpy_agrees_with_itself_and_no_divisor_of_whole_numbers_is_zero(data: Any) -> None:
    question = data.draw(st.sampled_from(questions()))
    x, y = question.arguments(data.draw(question.pairs))
    assert x.dtype == y.dtype == question.dtype and x.shape == y.shape == (COPIES,)
    assert question.same(question.right(x, y), question.right(x, y), y).all()
    assert question.dtype == "float32" or question.family.shifts or y.all()


def test_a_square_that_is_taken_for_never_negative_is_found_with_its_smallest_input() -> None:
    (finding,) = found(SQUARE, lambda x, y: x * x)
    assert (finding.x, finding.right, finding.found) == ("12", "112", "-112")
    assert finding.input == "x = 12", "y isn't in the expression"
    assert found(SQUARE, lambda x, y: np.abs(x * x)) == []


def test_a_quotient_that_is_rounded_before_it_is_floored_is_found() -> None:
    (finding,) = found(DIVISION, lambda x, y: np.floor(x / y))
    assert float(finding.found) - float(finding.right) in (1.0, np.inf) or finding.right == "nan", finding


def test_a_stack_that_refuses_has_no_finding_and_one_whose_process_ends_has() -> None:
    assert found(SQUARE, lambda x, y: None) == []
    (finding,) = found(SQUARE, lambda x, y: -8)
    assert finding.found == "the process ended with -8"


def test_what_c_leaves_open_is_told_apart() -> None:
    question = Question(OF["cast to whole numbers"], "cast(x, 'int32')", "float32")
    (finding,) = found(question, lambda x, y: np.where(np.isfinite(x), x, 0).astype("int32"))
    assert about(finding, []).startswith("**undefined")


@pytest.mark.parametrize(
    ("family", "text", "ours", "right", "same"),
    [
        ("float division", "x // y", 2.0, 3.0, False),
        ("algebra", "x - x", 0.0, np.nan, False),
        ("algebra", "x - x", np.nan, np.nan, True),
        ("algebra", "exp(x)", 1.00001, 1.0, True),
        ("algebra", "exp(x)", 3e38, np.inf, False),
        ("algebra", "sqrt(x * x)", 1e30, np.inf, False),
        ("algebra", "log(exp(x))", 2e-7, 0.0, True),
        ("rounding", "round(x)", -0.0, 0.0, True),
        ("comparison", "x == x", 1e-40, 0.0, True),
    ],
)
def test_when_two_answers_are_the_same(family: str, text: str, ours: float, right: float, same: bool) -> None:
    question = Question(OF[family], text, "float32")
    sides = (np.float32([value]) for value in (ours, right))
    one, other = sides
    assert all(bool(question.same(one, other, np.float32([y]))[0]) is same for y in (0.0, np.nan))


def test_nothing_is_drawn_whose_square_is_subnormal() -> None:
    assert is_normal((3.0, 0.5)) and is_normal((np.nan, np.inf)) and not is_normal((1e-20, 1.0))


def test_findings_of_one_meaning_stand_together_with_what_is_known_of_them() -> None:
    one = Finding.of(SQUARE, "a", [(12, 1)], np.int8(112), np.int8(-112))
    two = Finding.of(Question(SQUARE.family, SQUARE.text, "int16"), "b", [(256, 1)], np.int16(0), np.int16(1))
    entry = Known("wrap-around", "bug", "it wraps", text=r"abs\(.*", stacks="a|b", tracker="https://example.org/1")
    ((text, types, stacks, *_, said),) = rows([one, two], [entry])
    assert (text, types, stacks) == ("`abs(x * x)`", "int8, int16", "a, b")
    assert said == "**bug**: it wraps ([tracker](https://example.org/1))"
    assert about(two, [Known("wrap-around", "bug", "", stacks="a")]).startswith("not looked into yet (wraps")


def test_what_is_known_names_families_that_there_are_and_kinds_of_three() -> None:
    assert all(entry.family in OF and entry.kind in ("bug", "convention", "undefined") for entry in known())
    reports = [entry.report for entry in known() if entry.report]
    assert all((findings.PAGE.parent / report).is_file() for report in reports)


def test_each_report_has_its_page_and_shows_a_difference() -> None:
    assert {page.stem: page.read_text(encoding="utf-8") for page in FOLDER.glob("*.md")} == {
        name: report.text for name, report in reports().items()
    }
    assert all(report.alone.prints != report.alone.right for report in reports().values())


@pytest.mark.stacks
@pytest.mark.release
@pytest.mark.parametrize("name", reports())
def test_a_report_s_program_prints_what_is_said_of_it(name: str) -> None:
    alone = reports()[name].alone
    python = venv.ensure(alone.environment).python
    done = subprocess.run([python, "-c", alone.code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == alone.prints


def test_the_page_is_what_the_kept_findings_say() -> None:
    assert KEPT.is_file() and PAGE.read_text(encoding="utf-8") == page()


def test_a_value_is_shown_as_it_is_written() -> None:
    shown = [findings.shown(value) for value in (np.float32(0.1), np.int8(-3), np.bool_(True), "ended")]  # noqa: FBT003
    assert shown == ["0.1", "-3", "True", "ended"]
