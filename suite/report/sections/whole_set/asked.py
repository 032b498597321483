"""The section "The question": the text of each question file that a set has kept, which is shown and never run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from suite.answers.sentences import listed
from suite.case import NAME
from suite.guard.printable import printable
from suite.report.sections.section import Context, Section
from suite.report.tables import Table
from suite.results.analysis import Analysis

BYTES_MAX = 1 << 16  # of a file's text; of a longer one this much is shown
FUNCTION = re.compile(r"def (\w+)\(")
DOCSTRING = re.compile(r"""\s*[rR]?(?:\"{3}|'{3})(.*?)(?:\"{3}|'{3})""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question file: its name, without the ending, and its text."""

    workload: str
    text: str

    @property
    def question(self) -> str:
        """Returns the first paragraph of its docstring, else its name."""
        found = DOCSTRING.match(self.text)
        words = found.group(1).strip().partition("\n\n")[0] if found else ""
        return " ".join(words.split()) or self.workload

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Returns (anchor, text) of each line; the anchor is empty but for a line where a function begins."""
        starts = ((FUNCTION.match(line), line) for line in self.text.splitlines())
        return [(code_anchor(self.workload, start.group(1)) if start else "", line) for start, line in starts]


@dataclass(frozen=True, slots=True)
class AskedSection(Section):
    """The question files of a set."""

    files: tuple[Asked, ...]

    name = "asked"
    nav = "The question"
    key = "asked"
    grows = False

    @classmethod
    def of(cls, context: Context) -> AskedSection | None:
        files = asked(context.results.path / "inputs" / "workloads", context.analysis)
        return cls(files) if files else None

    @property
    def answer(self) -> str:
        return listed([file.question for file in self.files])

    @property
    def functions(self) -> Sequence[str]:
        return [anchor for file in self.files for anchor, _ in file.lines if anchor]

    def tables(self) -> Sequence[Table]:
        return [
            Table("", (), (), before=[file.question], code=(f"{file.workload}.py", file.text)) for file in self.files
        ]

    def console(self) -> Sequence[Table]:
        return [Table("", (), (), before=[file.question]) for file in self.files]

    def data(self) -> list[Any]:
        return [
            {"workload": file.workload, "question": file.question, "text": printable(file.text)} for file in self.files
        ]


def asked(folder: Path, analysis: Analysis) -> tuple[Asked, ...]:
    """Returns the question files that a set has kept of its comparisons."""
    names = sorted({each.head.text("workload") for each in analysis.comparisons if each.head["implementation"]})
    found = []
    for name in filter(NAME.fullmatch, names):
        path = folder / f"{name}.py"
        if path.is_file() and not path.is_symlink():
            with path.open(encoding="utf-8", errors="replace") as file:
                found.append(Asked(name, file.read(BYTES_MAX)))
    return tuple(found)


def code_anchor(workload: str, function: str) -> str:
    return f"code-{workload}-{function}"
