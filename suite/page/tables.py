"""Writes tables for people and lines for programs as Markdown, CSV or JSON, for `report` and for `compare`."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from suite.guard.printable import printable

if TYPE_CHECKING:  # it needs Polars
    from suite.answers.show import Part

VERSION = 2  # of an object in JSON; a field whose meaning changes raises it, a new field doesn't
MOST_LINES = 24  # of a table in Markdown; a longer one is folded
FORMULA = tuple("=+-@")  # a spreadsheet takes a text that begins with one of these for a formula

Value = str | float | int | bool | Sequence[str] | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table for people, with sentences above and below it. Columns named in `numbers` are right-aligned. Without
    `heads` there are only the sentences. Markdown also has the `code`: a file's name and its text."""

    title: str
    heads: Sequence[str]
    lines: Sequence[Sequence[str]]
    numbers: Sequence[str] = ()
    before: Sequence[str] = ()
    after: Sequence[str] = ()
    code: tuple[str, str] = ("", "")


def told(part: Part, heading: str = "", before: Sequence[str] = (), after: Sequence[str] = ()) -> Table:
    from suite.answers.show import rows_of, titles

    title = ": ".join(filter(None, (heading, part.title)))
    numbers = titles(head for head in part.heads if head.is_number)
    return Table(title, titles(part.heads), [*rows_of(part)], numbers, before, after)


@dataclass(frozen=True, slots=True)
class Export:
    """An answer for every format: `tables` for people, `heads` and `lines` for spreadsheets, `data` for programs."""

    tables: Sequence[Table]
    heads: Sequence[str]
    lines: Sequence[Sequence[Value]]
    data: Any

    def written(self, form: str) -> str:
        if form == "json":
            return json.dumps(known(self.data), ensure_ascii=False, allow_nan=False) + "\n"
        return spreadsheet(self.heads, self.lines) if form == "csv" else "\n".join(map(markdown, self.tables))


def known(value: Any) -> Any:
    """Returns a value that JSON can hold: null for a number that isn't finite, and texts without control characters,
    since a terminal may show them."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {known(name): known(member) for name, member in value.items()}
    if isinstance(value, list | tuple):
        return [known(member) for member in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def spreadsheet(heads: Sequence[str], lines: Iterable[Sequence[Value]]) -> str:
    """Returns CSV: numbers in full, an empty field for what is unknown, every text in one line."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([heads, *([field(value) for value in line] for line in lines)])
    return text.getvalue()


def field(value: Value) -> Value:
    """Returns one field of CSV. Names and reasons may come from a stranger's set: a text that a spreadsheet would run
    as a formula gets an apostrophe in front."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if value is None or isinstance(value, int | float):
        return value
    text = " ".join((value if isinstance(value, str) else "; ".join(value)).split())
    return f"'{text}" if text.startswith(FORMULA) else text


def markdown(table: Table) -> str:
    """Returns a table as Markdown; a long one is folded."""
    parts = [f"### {escaped(table.title)}\n"] if table.title else []
    parts += [bullets(table.before)] if table.before else []
    if table.lines:
        rules = ["---:" if head in table.numbers else "---" for head in table.heads]
        grid = (
            "\n".join([row(map(escaped, table.heads)), row(rules), *(row(map(escaped, line)) for line in table.lines)])
            + "\n"
        )
        folded = f"<details><summary>{len(table.lines)} lines</summary>\n\n{grid}\n</details>\n"
        parts.append(folded if len(table.lines) > MOST_LINES else grid)
    parts += [bullets(table.after)] if table.after else []
    parts += [folded_code(*table.code)] if table.code[1] else []
    return "\n".join(parts)


def folded_code(name: str, text: str) -> str:
    """Returns a file's text in Markdown, folded; its fence is longer than any that the text has."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", text)), default=0))
    shown = "\n".join(map(printable, text.splitlines()))
    return f"<details><summary>{escaped(name)}</summary>\n\n{fence}python\n{shown}\n{fence}\n</details>\n"


def row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def bullets(sentences: Iterable[str]) -> str:
    return "".join(f"- {escaped(sentence)}\n" for sentence in sentences)


def escaped(text: str) -> str:
    """Returns text that Markdown shows as it is, and doesn't read as a column, an element, emphasis or a link. Usual
    names like `jax_jit` or `[1.20, 1.35]` stay unchanged."""
    flat = " ".join(text.split())
    flat = re.sub(r"([\\`*|~]|(?<!\w)_|_(?!\w)|(?<=\])[(:\[])", r"\\\1", flat)
    return flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
