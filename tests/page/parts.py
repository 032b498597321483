"""The sections of a report, as tests look at them."""

from __future__ import annotations

from typing import TypeVar

from suite.answers.answer import Answer
from suite.page.report import Report
from suite.page.sections.section import AnswerSection, Section

S = TypeVar("S", bound=Section)


def found(report: Report, name: str) -> Answer:
    """What an answer of suite/answers found, which must be there."""
    return next(s.found for s in report.sections if isinstance(s, AnswerSection) and s.name == name)


def part(report: Report, kind: type[S]) -> S:
    """The section of a kind, which must be there."""
    section = report.section(kind)
    assert section is not None
    return section
