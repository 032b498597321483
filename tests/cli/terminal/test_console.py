"""What a person sees: a line per case, a bar, and tables."""

from __future__ import annotations

import io
import os
import pty
import re
import subprocess
import sys
from contextlib import suppress

import pytest
from rich.console import Console

from suite import environments
from suite.case import Purpose
from suite.cli.app import app_of, code_of
from suite.cli.terminal import progress
from suite.cli.terminal.output import print_table
from suite.cli.terminal.progress import ProgressBar, ProgressLines, line, listener
from suite.sets.rows import Row
from tests.launch.programs import HUNG_SECONDS
from tests.results.rows import attempt_of, row_of

ROW = row_of(attempt_of(block=2), 0.01234)


@pytest.mark.parametrize(
    ("row", "said"),
    [
        (ROW | {"flags": ["assumed", "noisy"]}, "block 2  {}  ok  first 123 ms, steady 12.3 ms  [noisy]"),
        (ROW | {"outcome": "timeout", "reason": "too slow", "synced_seconds": None}, "block 2  {}  timeout: too slow"),
        (row_of(attempt_of(replicate=2), 0.02), "block 1  {} (A/A twin)  ok  first 200 ms, steady 20.0 ms"),
        (row_of(attempt_of(purpose=Purpose.PRIME), synced_seconds=None), "block 1  {}  ok"),
    ],
)
def test_a_line_has_median_and_flags_or_the_reason(row: Row, said: str) -> None:
    assert line(row) == said.format("gemm-tiny-forward-f32-cpu-numpy")


def test_lines_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    shown = listener()
    assert isinstance(shown, ProgressLines)
    shown.block_starts(1, 3, 20)
    shown.expects([attempt_of(block=block) for block in (1, 2, 3)])
    for block in (1, 2, 3):
        shown.attempt_starts(attempt_of(block=block))
        shown.attempt_ends(row_of(attempt_of(block=block), 0.01234))
    shown.attempt_ends(ROW)
    shown.close()
    said = capsys.readouterr()
    assert said.out == ""
    first, *rows, last, verdict = said.err.splitlines()
    assert first == "Block 1 of 3: 20 processes"
    case = "gemm-tiny-forward-f32-cpu-numpy  ok  first 123 ms, steady 12.3 ms"
    for number, told in enumerate(rows, 1):
        assert re.fullmatch(rf"{number} of 3  block {number}  {re.escape(case)}  \(about \d+ s left\)", told), told
    assert last == f"3 of 3  block 3  {case}"
    assert verdict == line(ROW), "a verdict on a process that has ended isn't one more"


def test_processes_that_take_turns_share_the_time_so_far(monkeypatch: pytest.MonkeyPatch) -> None:
    seconds = 0.0
    monkeypatch.setattr(progress, "monotonic", lambda: seconds)
    blocks = [[attempt_of(stack, block) for stack in ("numpy", "jax_jit")] for block in (1, 2, 3)]
    count = progress.Count()
    count.expect([attempt for block in blocks for attempt in block])
    for attempt in blocks[0]:
        count.start(attempt)
    assert count.left() == "", "nothing is known yet"
    seconds = 120.0
    for attempt in blocks[0]:
        assert count.end(row_of(attempt, 0.01))
        assert count.left() == "about 4 min 00 s left"
    count.start(blocks[1][0])
    assert count.left() == "about 3 min 00 s left", "the process that runs isn't counted"


def test_a_bar_grows_with_processes_that_were_not_planned_and_never_passes_its_end() -> None:
    stream = io.StringIO()
    bar = ProgressBar(Console(file=stream, force_terminal=True, width=140))
    bar.expects([attempt_of(block=block) for block in (1, 2)])
    for retry, block in enumerate((1, 1, 2, 3), 1):  # block 1 is run again, block 3 is one more
        attempt = attempt_of(block=block, retry=retry)
        bar.expects([attempt])
        bar.block_starts(block, 3, 1)
        bar.attempt_starts(attempt)
        bar.attempt_ends(row_of(attempt, 0.01234))
    bar.close()
    shown = [(int(n), int(of)) for n, of in re.findall(r"(\d+)/(\d+)", stream.getvalue())]
    assert list(dict.fromkeys(shown)) == [(0, 2), (1, 2), (1, 3), (2, 3), (3, 3), (3, 4), (4, 4)]
    assert "Block 3 of 3" in stream.getvalue()
    assert "-1 h" not in stream.getvalue()


SHOWN = """
import sys
from suite.cli.terminal.progress import listener
from suite.cli.terminal.streams import plain_streams
from tests.results.rows import attempt_of, row_of
with plain_streams():
    bar = listener()
    bar.expects([attempt_of(block=block) for block in (1, 2, 3)])
    for block in (1, 2, 3):
        bar.attempt_starts(attempt_of(block=block))
        print("printed by others\x1b[2J\x9b2J\u202e", block, file=sys.stderr)
        bar.attempt_ends(row_of(attempt_of(block=block), outcome="error", reason="because\x1b[2J\x9b2J\u202e"))
    bar.close()
    print("after it\x1b[2J\x9b2J", file=sys.stderr)
"""
DRAWN = re.compile(r"\x1b\[([0-9;?]*)([A-Za-z])|\r|\n|[^\x1b\r\n]+")


def on_a_terminal(code: str, columns: int) -> str:
    """What a program writes to a real terminal on its standard error."""
    master, terminal = pty.openpty()
    variables = os.environ | {"COLUMNS": str(columns), "LINES": "50", "TERM": "xterm"}
    program = subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.DEVNULL, stderr=terminal, cwd=environments.ROOT, env=variables
    )
    os.close(terminal)
    written = b""
    with suppress(OSError):  # EIO: nobody has the terminal's other end open any more
        while part := os.read(master, 65536):
            written += part
    os.close(master)
    assert program.wait(HUNG_SECONDS) == 0, written.decode()
    return written.decode()


def screen(written: str) -> list[str]:
    """The lines that a terminal shows in the end. It fails at what no progress bar needs, as the clearing of all."""
    lines, row = [""], 0
    for drawn in DRAWN.finditer(written):
        text, how_far, what = drawn[0], drawn[1], drawn[2]
        if what == "A":
            row -= int(how_far or 1)
        elif what == "K":
            assert how_far == "2"
            lines[row] = ""
        elif text == "\n":
            row += 1
            lines += [""] * (row == len(lines))
        elif text == "\r" or what == "m" or text in ("\x1b[?25l", "\x1b[?25h"):
            pass  # every line is written from its beginning; colours; the cursor is hidden
        else:
            assert what is None, f"{text!r} isn't of a progress bar"
            lines[row] += text
    return [shown.rstrip() for shown in lines]


@pytest.mark.parametrize("columns", [150, 60])
def test_on_a_real_terminal_the_bar_is_redrawn_in_place_and_strangers_control_nothing(columns: int) -> None:
    shown = screen(on_a_terminal(SHOWN, columns))
    case = "gemm-tiny-forward-f32-cpu-numpy"
    for block in (1, 2, 3):
        assert shown.count(f"printed by others {block}") == 1
        assert shown.count(f"block {block}  {case}  error: because") == 1
    assert sum("3/3" in each for each in shown) == 1 and not any("1/3" in each or "2/3" in each for each in shown)
    assert shown.index("after it") == len(shown) - 2


def test_a_table_is_markdown_and_whole_where_nobody_watches(capsys: pytest.CaptureFixture[str]) -> None:
    prose = "no C++ compiler that Inductor takes was found; " * 5
    lines = [["torch_inductor", "9.05 ms", prose], ["1.84× [1.67, 2.03] [red]", "12.1 ms", ""]]
    print_table("Stacks", ["stack", "median", "runs here"], lines, numbers=("median",))
    title, *table = filter(str.strip, capsys.readouterr().out.splitlines())
    heads, rule, *rows = table
    assert title == "Stacks" and all(line.startswith("|") and line.endswith("|") for line in table)
    assert set(rule) <= set("|-:")
    cells = [[cell.strip() for cell in line.strip("|").split("|")] for line in (heads, *rows)]
    assert cells == [["stack", "median", "runs here"], *([cell.strip() for cell in line] for line in lines)]


def test_on_a_terminal_long_cells_are_folded_and_none_is_cut() -> None:
    name = "gpt2-custom-batch=32,seq=1024-train-f32-cpu-system_allocator-6GiB-torch_inductor"
    code = f"""
import sys
from suite.cli.terminal import progress
from suite.cli.terminal.output import print_table
sys.stdout = sys.stderr
print_table("Cases", ["case", "verdict"], [[{name!r}, "runs"]])
"""
    shown = screen(on_a_terminal(code, 60))
    assert max(map(len, shown)) <= 60
    assert f"case: {name}" in "".join(line.strip() for line in shown).replace("case:gpt2", "case: gpt2")


@pytest.mark.parametrize(("columns", "is_table"), [(40, False), (80, True)])
def test_a_table_fits_its_terminal_or_each_value_has_a_line(
    columns: int, is_table: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr(sys, "stdout", terminal := Terminal())
    monkeypatch.setenv("COLUMNS", str(columns))
    monkeypatch.setenv("TERM", "xterm")
    name = "2026-11-29.cpu.1d60841c06aa564e77"
    print_table("Sets", ["name", "outcomes"], [[name, "12 ok"], ["other", ""]])
    lines = [re.sub(r"\x1b\[[0-9;]*m", "", said).rstrip() for said in terminal.getvalue().splitlines()]
    assert max(map(len, lines)) <= columns
    assert (f"| {name} | 12 ok    |" in lines) == is_table
    assert (f"name: {name}" in lines and "outcomes: 12 ok" in lines) != is_table


@pytest.mark.parametrize("encoding", ["ascii", "latin-1"])
def test_what_a_stream_can_t_encode_is_replaced_and_the_exit_code_stays(
    encoding: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, io.TextIOWrapper(io.BytesIO(), encoding=encoding, write_through=True))
    app = app_of("program")

    @app.default
    def told() -> int:
        print_table("Times", ["a step"], [["1 – 2 → 3"]])
        print("漢", file=sys.stderr)
        return 4

    assert code_of(app, []) == 4
    assert b"1 ? 2 ? 3" in sys.stdout.buffer.getvalue() and sys.stderr.buffer.getvalue() == b"?\n"
