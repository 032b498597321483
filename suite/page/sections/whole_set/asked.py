"""The section "The question": the text of each question file that a set has kept, which is shown and never run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from suite.answers.sentences import listed
from suite.case import NAME
from suite.guard.printable import printable
from suite.page.sections.section import Context, Section
from suite.page.tables import Table
from suite.workloads.catalog import file_name

BYTES_MAX = 1 << 16  # of a file's text; of a longer one this much is shown
FUNCTION = re.compile(r"def (\w+)\(")
DOCSTRING = re.compile(r"""(?:\s*#.*\n)*\s*[rR]?(?:\"{3}|'{3})(.*?)(?:\"{3}|'{3})""", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Asked:
    """A question file: what it is called, and its text."""

    workload: str
    text: str

    @property
    def heading(self) -> str:
        """Returns the first paragraph of its docstring, else its name."""
        found = DOCSTRING.match(self.text)
        words = found.group(1).strip().partition("\n\n")[0] if found else ""
        return " ".join(words.split()) or self.workload

    @property
    def lines(self) -> list[tuple[str, str]]:
        """Returns (anchor, text) of each line; the anchor is empty but for a line where a function begins."""
        starts = ((FUNCTION.match(line), line) for line in self.text.splitlines())
        return [(code_anchor(self.workload, start.group(1)) if start else "", line) for start, line in starts]


class AskedSection(Section):
    """The question files of a set."""

    def __init__(self, files: Sequence[Asked]) -> None:
        super().__init__("asked", "The question", listed([file.heading for file in files]))
        self.key, self.files = "asked", files

    @property
    def functions(self) -> Sequence[str]:
        return [anchor for file in self.files for anchor, _ in file.lines if anchor]

    def tables(self) -> Sequence[Table]:
        return [
            Table("", (), (), before=[file.heading], code=(file_name(file.workload), file.text)) for file in self.files
        ]

    def console(self) -> Sequence[Table]:
        return [Table("", (), (), before=[file.heading]) for file in self.files]

    def data(self) -> list[Any]:
        return [
            {"workload": file.workload, "question": file.heading, "text": printable(file.text)} for file in self.files
        ]


def asked(context: Context) -> AskedSection | None:
    """Returns the question files that a set has kept of its comparisons."""
    folder, comparisons = context.frame.results.path / "inputs" / "workloads", context.frame.analysis.comparisons
    names = sorted({each.head.text("workload") for each in comparisons if each.head["implementation"]})
    found = []
    for name in filter(NAME.fullmatch, names):
        path = folder / file_name(name)
        if path.is_file() and not path.is_symlink():
            with path.open(encoding="utf-8", errors="replace") as file:
                found.append(Asked(name, file.read(BYTES_MAX)))
    return AskedSection(found) if found else None


def code_anchor(workload: str, function: str) -> str:
    return f"code-{workload}-{function}"
