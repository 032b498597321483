"""What a person sees: a line per case, a bar, and tables that keep words whole."""

from __future__ import annotations

import io

import pytest
from rich.console import Console

from suite.case import Purpose
from suite.cli.terminal import console
from suite.cli.terminal.console import ProgressBar, ProgressLines, QuestionUnits, line, listener, print_table
from tests.results.rows import attempt_of, row_of

ROW = row_of(attempt_of(block=2), 0.01234)


def test_a_line_has_median_and_flags() -> None:
    assert line(ROW | {"flags": ["assumed", "noisy"]}, QuestionUnits()) == (
        "block 2  gemm-tiny-forward-f32-cpu-numpy  ok  first 123 ms, steady 12.3 ms  [assumed, noisy]"
    )


def test_times_of_a_question_share_a_unit_as_in_a_table() -> None:
    units, said = QuestionUnits(), []
    for stack, seconds in (("numpy", 0.02), ("jax_jit", 0.00091), ("tf_xla", 0.003)):
        said.append(line(row_of(attempt_of(stack), seconds, first_seconds=24.8), units).partition("  ok  ")[2])
    assert said == ["first 24.8 s, steady 20.0 ms", "first 24.8 s, steady 0.910 ms", "first 24.8 s, steady 3.00 ms"]
    other = row_of(attempt_of("numpy", pass_="train"), 0.0004)
    assert line(other, units).endswith("steady 400 µs"), "another question has its own"


def test_a_line_of_what_failed_has_its_reason() -> None:
    failed = row_of(attempt_of(), outcome="timeout", reason="too slow", synced_seconds=None)
    assert line(failed, QuestionUnits()) == "block 1  gemm-tiny-forward-f32-cpu-numpy  timeout: too slow"


def test_the_twin_is_named() -> None:
    assert "(A/A twin)" in line(row_of(attempt_of(replicate=2)), QuestionUnits())
    assert "(A/A twin)" not in line(ROW, QuestionUnits())


def test_a_prime_has_no_steady_time() -> None:
    assert line(row_of(attempt_of(purpose=Purpose.PRIME), synced_seconds=None), QuestionUnits()).endswith("  ok")


def test_lines_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    shown = listener(3)
    assert isinstance(shown, ProgressLines)
    shown.block_starts(1, 3, 20)
    shown.attempt_starts(attempt_of())
    shown.attempt_ends(ROW)
    shown.close()
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.splitlines() == ["Block 1 of 3: 20 processes", line(ROW, QuestionUnits())]


def test_a_bar_grows_with_blocks_that_were_not_planned() -> None:
    stream = io.StringIO()
    bar = ProgressBar(1, Console(file=stream, force_terminal=True, width=100))
    for number in (1, 2):
        bar.block_starts(number, 2, 1)
        bar.attempt_starts(attempt_of())
        bar.attempt_ends(ROW)
    bar.close()
    assert "2/2" in stream.getvalue()
    assert "Block 2 of 2" in stream.getvalue()


@pytest.mark.parametrize("width", [80, 120])
def test_words_stay_whole_and_prose_is_left(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(console, "PIPED_WIDTH", width)
    prose = "no C++ compiler that Inductor takes was found; `invoke doctor` says how to get one"
    print_table(
        "Stacks",
        ["stack", "what it is", "median", "runs here"],
        [["torch_inductor", "PyTorch, torch.compile", "9.05 ms", prose]],
        numbers=("median",),
    )
    out = capsys.readouterr().out
    for word in ("torch_inductor", "torch.compile", "Inductor", "compiler"):
        assert word in out
    assert max(map(len, out.splitlines())) <= width
    head, *rest = (text for text in out.splitlines() if "runs" in text or "no C++" in text or "Inductor" in text)
    places = {text.index(word) for text in (head, *rest) for word in ("runs", "no C++") if word in text}
    assert len(places) == 1, "prose begins at the left of its column"


def test_where_there_is_no_room_the_longest_words_give_way() -> None:
    lines = [["a", "what"], ["torch_inductor", "/a/path/that/is/too/long"]]
    assert console.column_widths(lines, 60) == [14, 24]
    assert console.column_widths(lines, 30) == [14, 16]
    assert sum(console.column_widths(lines, 20)) == 20


def test_prose_gets_the_room_that_words_leave() -> None:
    lines = [["stack", "why"], ["torch_inductor", "a reason of a good many words"]]
    assert console.column_widths(lines, 80) == [14, 29]
    assert console.column_widths(lines, 30) == [14, 16]


def test_a_cell_with_brackets_is_no_markup(capsys: pytest.CaptureFixture[str]) -> None:
    print_table("t", ["a"], [["1.84× [1.67, 2.03] [red]"]])
    assert "1.84× [1.67, 2.03] [red]" in capsys.readouterr().out


@pytest.mark.parametrize("width", [60, 80, 100])
def test_a_name_that_is_too_long_goes_on_after_a_separator(
    width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """As case names in a dry run do: no word of one is cut."""
    monkeypatch.setattr(console, "PIPED_WIDTH", width)
    name = "gpt2-custom-batch=32,seq=1024-train-f32-cpu-system_allocator-6GiB-torch_inductor"
    print_table("Cases", ["case", "dims", "verdict"], [[name, "batch=32,seq=1024,vocab=50257", "runs"]])
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= width
    for word in ("custom", "batch=32", "seq=1024", "train", "system_allocator", "6GiB", "torch_inductor", "50257"):
        assert word in out, f"{word} is cut"
    first = [text.split("  ")[0].strip() for text in out.splitlines()[3:]]
    assert "".join(first).startswith(name), "nothing is lost"
