"""What a set, a worker or an archive says of itself is text on every way out: no terminal obeys it, and nothing reads
as what it isn't."""

from __future__ import annotations

import io
import json
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from rich.console import Console

from suite import results
from suite.cli.app import APP, code_of
from suite.cli.terminal.output import print_table, write_export
from suite.cli.terminal.progress import ProgressBar, ProgressLines
from suite.cli.terminal.streams import plain_streams
from suite.guard.out import write_out
from suite.guard.printable import printable
from suite.page.formats.export import export
from suite.page.formats.render import render
from suite.sets.result_set import ResultSet
from tests.results.rows import attempt_of, make_set, record, row_of

# Erases the line, sets the title (C1), turns the text around, hides what follows, rings.
EVIL = "\x1b[2K\x1b]0;title\x07\x9b31m\u202eevil\u2066\u200f\x85\u2028\x08\r"
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture
def store(tmp_path: Path) -> ResultSet:
    """A set whose every text is evil."""
    rows = [row_of(attempt_of(stack, block)) for stack in ("numpy", "jax_jit") for block in (1, 2)]
    for row in rows[1:]:
        row |= {"outcome": "error", "reason": f"because{EVIL}"}
    rows[0]["versions"] = json.dumps({f"numpy{EVIL}": EVIL})
    rows[0]["environment_facts"] = json.dumps({f"fact{EVIL}": f"told{EVIL}"})
    made = make_set(tmp_path / "a-set", rows, [record(1, 1), record(2, 1)])
    made.machine = {"cpu_model": f"A processor{EVIL}", "machine_id": "m"}
    made.commit()
    return made


def test_printable_leaves_text_and_nothing_else() -> None:
    assert printable(f"a\tb\n{EVIL}é 漢字 👩‍🔬") == "a\tb\n]0;titleevilé 漢字 👩‍🔬"
    assert printable("\x1b\x1b[0m[31m\x9b[0m") == "[31m0m"


@pytest.mark.parametrize("form", ["md", "csv", "json"])
@pytest.mark.parametrize("where", ["a file", "standard output"])
def test_a_report_in_every_form(
    store: ResultSet, form: str, where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out" if where == "a file" else None
    with plain_streams():
        write_export(export(results.load(store.folder)), form, str(out) if out else None)
    written = out.read_text(encoding="utf-8") if out else capsys.readouterr().out
    assert "evil" in written and not CONTROLS.search(written)
    if form == "json":
        assert not re.search(r"\\u00[0189]", written), "nor where a program reads them"


def test_a_page(store: ResultSet) -> None:
    page = render(store.folder).read_text(encoding="utf-8")
    assert "because" in page and "evil" in page
    assert not CONTROLS.search(page)


def test_a_file_of_any_text(tmp_path: Path) -> None:
    write_out(tmp_path / "file", EVIL)
    assert (tmp_path / "file").read_text() == "]0;titleevil"


def as_refused(text: str) -> None:
    code_of(APP, [f"--{text}"])


def as_printed(text: str) -> None:
    with plain_streams():
        print(text)
        print(text, file=sys.stderr)


def as_table(text: str) -> None:
    print_table(text, [text, "head"], [[text, "cell"], ["[red]x[/red]", text]])


def as_coloured(text: str) -> None:
    print_table(text, ["head"], [[f"faster {text}"]])


def as_line(text: str) -> None:
    with plain_streams():
        ProgressLines().note(text)


@pytest.mark.parametrize("exit", [as_printed, as_table, as_coloured, as_line, as_refused])
def test_a_terminal_gets_text(exit: Callable[[str], None], capsys: pytest.CaptureFixture[str]) -> None:
    exit(f"told{EVIL}")
    said = "".join(capsys.readouterr())
    assert "told" in said and not CONTROLS.search(said)


def test_a_progress_bar_draws_and_its_lines_don_t() -> None:
    stream = io.StringIO()
    bar = ProgressBar(Console(file=stream, force_terminal=True, width=100))
    before = len(stream.getvalue())
    bar.note(f"told{EVIL}")
    bar.close()
    drawn = stream.getvalue()[before:]
    assert "told]0;titleevil" in drawn and not set("\x9b\x07\u202e\u2066") & set(drawn)


def test_colours_reach_a_terminal_all_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    terminal = Terminal()
    monkeypatch.setenv("TERM", "xterm-256color")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setattr(sys, "stdout", terminal)
    with plain_streams():
        print_table("title", ["head"], [["slower (1 of 3)"]])
    assert "\x1b[31m" in terminal.getvalue()
