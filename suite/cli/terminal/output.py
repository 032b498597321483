"""Prints a command's results, or writes them to a file, in the format that `--format` or `--json` names."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any, TypeVar

from rich.cells import cell_len

from suite.environments import say
from suite.errors import UserError, check_known
from suite.guard.out import is_standard, write_out
from suite.guard.printable import printable
from suite.page.tables import Export, Table, known

T = TypeVar("T")
Columns = Mapping[str, Callable[[T], str]]  # what a table's columns say of an entry, by their heads
VERSION = 1  # of every object that --json prints; a changed meaning raises it, a new field doesn't
WIDE = 10_000  # columns in which no cell is folded
COLOURS = {"faster": "green", "slower": "red", "tie": "cyan", "close": "cyan", "undecided": "yellow", "baseline": "dim"}


def print_json(fields: Mapping[str, Any]) -> None:
    """Prints one JSON object. With --json a command prints nothing else on standard output."""
    print(json.dumps(known({"version": VERSION, **fields})))


def print_table(
    title: str, heads: Sequence[str], lines: Iterable[Sequence[str]], numbers: Collection[str] = ()
) -> None:
    """Prints a table as Markdown. Columns in `numbers` are right-aligned."""
    heads, cells = [*map(printable, heads)], [[printable(text) for text in line] for line in lines]
    if sys.stdout.isatty():
        print_folded(printable(title), heads, cells, numbers)
    else:
        print(printable(title), "", *aligned(heads, cells, numbers), "", sep="\n")


def print_folded(title: str, heads: Sequence[str], lines: Sequence[Sequence[str]], numbers: Collection[str]) -> None:
    """Prints a table on a terminal: long cells are folded between words, and verdicts have colours. On one too narrow
    for that, each value has a line."""
    from rich import box
    from rich.console import Console
    from rich.measure import Measurement
    from rich.table import Table as Grid
    from rich.text import Text

    console, grid = Console(highlight=False), Grid(box=box.MARKDOWN)
    for head in heads:
        grid.add_column(Text(head), justify="right" if head in numbers else "left", overflow="fold")
    cells = [[Text(text, COLOURS.get(text.partition(" ")[0], "")) for text in line] for line in lines]
    for line in cells:
        grid.add_row(*line)
    console.print(Text(title, "bold"))
    if Measurement.get(console, console.options.update(width=WIDE), grid).minimum <= console.width:
        console.print(grid)
        return
    for line in cells:
        values = (Text(f"{head}: ").append_text(cell) for head, cell in zip(heads, line, strict=True) if cell)
        console.print(*values, "", sep="\n")


def aligned(heads: Sequence[str], lines: Sequence[Sequence[str]], numbers: Collection[str]) -> list[str]:
    """Returns the lines of a table for a pipe or a file, in columns as wide as their widest cell. Only a last column
    of text isn't filled up: one long reason would make every line as long as itself."""
    widths = [max(map(cell_len, column)) for column in zip(heads, *lines, strict=True)]
    if heads[-1] not in numbers:
        widths[-1] = cell_len(heads[-1])

    def filled(text: str, head: str, width: int) -> str:
        space = " " * (width - cell_len(text))
        return f"{space}{text}" if head in numbers else f"{text}{space}"

    rows = [[filled(*cell) for cell in zip(line, heads, widths, strict=True)] for line in (heads, *lines)]
    rule = "|".join("-" * (width + 2) for width in widths)
    first, *rest = [f"| {' | '.join(row)} |" for row in rows]
    return [first, f"|{rule}|", *rest]


def print_columns(title: str, columns: Columns[T], entries: Iterable[T], numbers: Collection[str] = ()) -> None:
    """Prints a table with a line for each entry."""
    print_table(title, [*columns], [[cell(entry) for cell in columns.values()] for entry in entries], numbers)


def print_tables(tables: Iterable[Table]) -> None:
    """Prints tables, each with its sentences below it, since a terminal shows the end of the output."""
    for table in tables:
        if table.heads:
            print_table(table.title, table.heads, table.lines, table.numbers)
        for sentence in (*table.before, *table.after):
            print(sentence)
        print()


def check_form(form: str, forms: Collection[str], out: str | None) -> None:
    """Raises UserError for an unknown format, and for the format `text` together with a file, `out`."""
    check_known("format", form, forms)
    if form == "text" and out:
        raise UserError(f"--out={out} needs --format=html, md, csv or json: text is only for the terminal.")


def write_export(export: Export, form: str, out: str | None) -> None:
    """Writes an export to the file `out` and prints its path; without `out`, prints the export. A table's sentences,
    which a CSV can't hold, go to standard error."""
    if form == "text":
        print_tables(export.tables)
        return
    if form == "csv":
        for table in export.tables:
            for sentence in (*table.before, *table.after) if table.lines else ():
                say(sentence)
    if out:
        write_file(export.written(form), out)
    else:
        sys.stdout.write(export.written(form))


def write_file(content: str | bytes, out: str) -> None:
    """Writes the file that --out names and prints its path, but nothing beside a file on standard output."""
    write_out(out, content)
    if not is_standard(out):
        print(out)
