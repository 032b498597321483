"""What a command tells besides a page, written as Markdown, CSV or JSON: the one writer of `report` and `compare`."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from suite.guard.printable import printable

MOST_LINES = 24  # a longer table is folded in a comment
FORMULA = tuple("=+-@")  # a text that begins so is a formula to a spreadsheet

Value = str | float | int | bool | None


@dataclass(frozen=True, slots=True)
class Table:
    """A table for people, with what is said above and below it. Columns named in `numbers` are right-aligned."""

    title: str
    heads: Sequence[str]
    lines: Sequence[Sequence[str]]
    numbers: Sequence[str] = ()
    before: Sequence[str] = ()
    after: Sequence[str] = ()


@dataclass(frozen=True, slots=True)
class Told:
    """The same in every form: `tables` for people, `heads` and `lines` for spreadsheets, `data` for programs."""

    tables: Sequence[Table]
    heads: Sequence[str]
    lines: Sequence[Sequence[Value]]
    data: Any

    def written(self, form: str) -> str:
        """As `md`, `csv` or `json`."""
        if form == "json":
            return json.dumps(known(self.data), ensure_ascii=False, allow_nan=False) + "\n"
        return spreadsheet(self.heads, self.lines) if form == "csv" else "\n".join(map(markdown, self.tables))


def known(value: Any) -> Any:
    """JSON has no word for what isn't finite: null, which is unknown. Texts are text: who reads them may print them."""
    if isinstance(value, str):
        return printable(value)
    if isinstance(value, dict):
        return {known(name): known(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [known(each) for each in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def spreadsheet(heads: Sequence[str], lines: Iterable[Sequence[Value]]) -> str:
    """CSV: numbers in full, nothing for what is unknown, every text in one line."""
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([heads, *([field(value) for value in line] for line in lines)])
    return text.getvalue()


def field(value: Value) -> Value:
    """One cell. Names and reasons may come from a stranger's set: none of them may run where the file is opened."""
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if not isinstance(value, str):
        return value
    text = " ".join(value.split())
    return f"'{text}" if text.startswith(FORMULA) else text


def markdown(table: Table) -> str:
    """For a comment on a change."""
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
    return "\n".join(parts)


def row(cells: Iterable[str]) -> str:
    """One line of a table."""
    return f"| {' | '.join(cells)} |"


def bullets(sentences: Iterable[str]) -> str:
    """One line each."""
    return "".join(f"- {escaped(sentence)}\n" for sentence in sentences)


def escaped(text: str) -> str:
    """Text that stays text in Markdown: no column, no element, no emphasis, no link. What a name usually has,
    `jax_jit` or `[1.20, 1.35]`, is left as it is."""
    flat = " ".join(text.split())
    flat = re.sub(r"([\\`*|~]|(?<!\w)_|_(?!\w)|(?<=\])[(:\[])", r"\\\1", flat)
    return flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
